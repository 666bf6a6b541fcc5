import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { StorageUnavailableError } from './object-store.ts'
import { guardRead } from './read-guard.ts'

const translate = (cause: unknown) => new StorageUnavailableError(undefined, { cause })
const guard = (source: Readable, expectedBytes: number, stallMs = 60_000) =>
  guardRead(source, { expectedBytes, translate, stallMs })

test('a source that delivers all expected bytes passes', async () => {
  const source = Readable.from([Buffer.from('ab'), Buffer.from('c')])
  expect((await buffer(guard(source, 3))).toString()).toBe('abc')
  expect(await buffer(guard(Readable.from([]), 0))).toHaveLength(0)
})

test.each([2, 4])('a source that delivers 3 of %i bytes fails', async (expectedBytes) => {
  await expect(buffer(guard(Readable.from([Buffer.from('abc')]), expectedBytes))).rejects.toThrow(
    StorageUnavailableError,
  )
})

test('a source that fails or closes early fails the read with an error of the storage', async () => {
  for (const cause of [new Error('EIO'), undefined]) {
    const source = new PassThrough()
    const read = buffer(guard(source, 10))
    source.write('abc')
    source.destroy(cause)
    await expect(read).rejects.toThrow(StorageUnavailableError)
  }
})

test('a source that stalls fails the read and is destroyed', async () => {
  const source = new PassThrough()
  source.write('abc')
  await expect(buffer(guard(source, 10, 40))).rejects.toMatchObject({
    cause: { message: 'A read received nothing for 40 ms.' },
  })
  expect(source.destroyed).toBe(true)
})

test('a slow reader is not a stall', async () => {
  const chunks = Array.from({ length: 20 }, () => Buffer.alloc(64 * 1024))
  const stream = guard(Readable.from(chunks), 20 * 64 * 1024, 400)
  await delay(1_000)
  expect(await buffer(stream)).toHaveLength(20 * 64 * 1024)
})

test('destroying the read destroys the source', async () => {
  const source = new PassThrough()
  const stream = guard(source, 10)
  const closed = once(source, 'close')
  stream.destroy()
  await closed
  expect(source.destroyed).toBe(true)
})
