import { LocalStore } from '../../../src/core/storage/local-store.ts'

// Stores objects until it is killed. Prints the key of every stored object. One large object never ends.

const [, , directory = '', round = ''] = process.argv
const store = new LocalStore(directory)
const large = await store.create(`crash/${round}/large`)
for (let number = 0; ; number++) {
  const key = `crash/${round}/${String(number).padStart(8, '0')}`
  await large.write(Buffer.alloc(256 * 1024, number))
  await store.put(key, Buffer.alloc(64 * 1024 + number, number))
  process.stdout.write(`${key}\n`)
}
