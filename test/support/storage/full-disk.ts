import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { LocalStore } from '../../../src/core/storage/local-store.ts'
import { StorageFullError } from '../../../src/core/storage/object-store.ts'

// Uses a store on a disk of 1 MiB, and prints what happened as JSON.

const [, , directory = ''] = process.argv
const store = new LocalStore(directory)

const outcome = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'stored'
  } catch (error) {
    return error instanceof StorageFullError ? `full: ${error.message}` : String(error)
  }
}
const keys = async (): Promise<string[]> => {
  const found: string[] = []
  for await (const { key } of store.list('')) found.push(key)
  return found
}

async function writeLarge(): Promise<void> {
  const writer = await store.create('large')
  for (let count = 0; count < 64; count++) await writer.write(Buffer.alloc(64 * 1024))
  await writer.complete()
}

const steps = {
  first: await outcome(store.put('first', Buffer.alloc(300_000, 1))),
  tooLarge: await outcome(store.put('too-large', Buffer.alloc(2_000_000))),
  writer: await outcome(writeLarge()),
  replaced: await outcome(store.put('first', Buffer.alloc(2_000_000))),
  keys: await keys(),
  firstByte: (await store.readBytes('first'))[0],
  temporaryFiles: (await readdir(join(directory, '~incoming'))).length,
  reserved: await outcome(
    new LocalStore(directory, { reservedBytes: 700_000 }).put('reserved', Buffer.alloc(100_000)),
  ),
  second: await outcome(store.put('second', Buffer.alloc(500_000))),
  third: await outcome(store.put('third', Buffer.alloc(500_000))),
  deleted: await outcome(store.delete(['second'])),
  thirdAgain: await outcome(store.put('third', Buffer.alloc(500_000))),
}
console.log(JSON.stringify(steps))
