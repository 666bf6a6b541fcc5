import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ObjectMissingError, type ObjectStore } from '../../../src/core/storage/object-store.ts'
import { keysIn, listAll, type StoreFixture, storeFactories } from '../../support/storage/store-fixture.ts'

const MIB = 1024 * 1024
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const VALID_KEY = /^(?!\.\.?(\/|$))[A-Za-z0-9._-]{1,128}(\/(?!\.\.?(\/|$))[A-Za-z0-9._-]{1,128}){0,15}$/

/** Texts that look like paths. */
const pathLike = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '/',
        '\\',
        '',
        '~incoming',
        '%2e%2e',
        '\0',
        'C:',
        '..%2f',
        'a',
        '-',
        '_',
        'é',
        ' ',
      ),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

describe.each(storeFactories)('%s', (_name, create) => {
  let fixture: StoreFixture
  let store: ObjectStore
  beforeAll(async () => {
    fixture = await create()
    store = fixture.store
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test('returns what was put, and describes it the same in every way', async () => {
    const put = await store.put('same/a.bin', Buffer.from('hello'))
    expect(put).toMatchObject({ key: 'same/a.bin', sizeBytes: 5, etag: expect.stringMatching(/^"[^"]+"$/) })
    const { modifiedAt, ...rest } = put
    expect(Math.abs(Date.now() - modifiedAt.getTime())).toBeLessThan(60_000)
    expect(await store.stat('same/a.bin')).toMatchObject(rest)
    expect(await listAll(store, 'same/')).toMatchObject([rest])
    expect(await text(await store.read('same/a.bin'))).toBe('hello')
    expect(Buffer.from(await store.readBytes('same/a.bin')).toString()).toBe('hello')
  })

  test('replaces an object, and its ETag changes with the content', async () => {
    const versions = []
    for (const content of ['first', 'again', 'third']) {
      versions.push(await store.put('replaced', Buffer.from(content)))
      expect(Buffer.from(await store.readBytes('replaced')).toString()).toBe(content)
    }
    expect(new Set(versions.map(({ etag }) => etag)).size).toBe(3)
    expect((await store.stat('replaced'))?.etag).toBe(versions[2]?.etag)
  })

  test('an empty object exists', async () => {
    await store.put('empty', new Uint8Array())
    expect(await store.stat('empty')).toMatchObject({ sizeBytes: 0 })
    expect(await store.readBytes('empty')).toHaveLength(0)
    const writer = await store.create('empty/not/yet'.replaceAll('/', '-'))
    expect(await writer.complete()).toMatchObject({ key: 'empty-not-yet', sizeBytes: 0 })
  })

  test('reads parts, which end with the object', async () => {
    await store.put('parts', Buffer.from('0123456789'))
    const part = async (start: number, end: number) =>
      Buffer.from(await store.readBytes('parts', { start, end })).toString()
    expect(await part(0, 9)).toBe('0123456789')
    expect(await part(3, 5)).toBe('345')
    expect(await part(9, 9)).toBe('9')
    expect(await part(8, 1_000)).toBe('89')
    await expect(part(10, 12)).rejects.toThrow(RangeError)
    await expect(part(5, 4)).rejects.toThrow()
  })

  test('an object that does not exist is reported by reads, and ignored by deletions', async () => {
    await store.put('folder/file', Buffer.from('x'))
    for (const key of ['nothing', 'folder', 'folder/none', 'folder/file/below']) {
      expect(await store.stat(key), key).toBeUndefined()
      await expect(store.read(key), key).rejects.toThrow(ObjectMissingError)
      await expect(store.readBytes(key, { start: 0, end: 1 }), key).rejects.toThrow(ObjectMissingError)
    }
    await store.delete(['nothing', 'folder', 'folder/none', 'folder/file/below'])
    expect(await store.stat('folder/file')).toBeDefined()
    await store.delete([])
  })

  test('lists by prefix in the order of the keys', async () => {
    const keys = ['l/0', 'l/1/0', 'l/1/1', 'l/10', 'l/2/a/b/c', 'l/x.mcap']
    for (const key of keys.toReversed()) await store.put(key, Buffer.from(key))
    await store.put('l2', Buffer.from(''))
    expect(await keysIn(store, 'l/')).toEqual(keys)
    expect(await keysIn(store, 'l/1')).toEqual(['l/1/0', 'l/1/1', 'l/10'])
    expect(await keysIn(store, 'l/1/')).toEqual(['l/1/0', 'l/1/1'])
    expect(await keysIn(store, 'l/2/a/b/c')).toEqual(['l/2/a/b/c'])
    expect(await keysIn(store, 'l')).toEqual([...keys, 'l2'])
    expect(await keysIn(store, 'm/')).toEqual([])
    expect((await keysIn(store)).length).toBeGreaterThan(keys.length)
    await store.delete([...keys, 'l2'])
    expect(await keysIn(store, 'l')).toEqual([])
  })

  test('stores 12 MiB from a writer, whole or not at all', async () => {
    const bytes = randomBytes(12 * MIB)
    const writer = await store.create('large/file.mcap')
    for (let offset = 0; offset < bytes.length; ) {
      const length = 1 + Math.floor(Math.random() * 3 * MIB)
      await writer.write(bytes.subarray(offset, offset + length))
      offset += length
      expect(await store.stat('large/file.mcap')).toBeUndefined()
    }
    expect(await keysIn(store, 'large/')).toEqual([])
    const stored = await writer.complete()
    expect(stored).toMatchObject({ key: 'large/file.mcap', sizeBytes: bytes.length })
    expect(await store.stat('large/file.mcap')).toMatchObject({ etag: stored.etag, sizeBytes: bytes.length })
    expect(sha256(await store.readBytes('large/file.mcap'))).toBe(sha256(bytes))
    const range = { start: 8 * MIB - 3, end: 8 * MIB + 3 }
    const part = Buffer.from(await store.readBytes('large/file.mcap', range))
    expect(part.equals(bytes.subarray(range.start, range.end + 1))).toBe(true)
    await writer.abort()
    expect(await store.stat('large/file.mcap'), 'abort after complete').toBeDefined()
    await expect(writer.write(Buffer.from('more'))).rejects.toThrow()
  })

  test('an aborted writer leaves the former object', async () => {
    await store.put('kept', Buffer.from('former'))
    for (const size of [1, 9 * MIB]) {
      const writer = await store.create('kept')
      await writer.write(Buffer.alloc(size))
      await writer.abort()
      await writer.abort()
      await expect(writer.complete()).rejects.toThrow()
      expect(Buffer.from(await store.readBytes('kept')).toString()).toBe('former')
    }
  })

  test('writes that are not awaited keep their order', async () => {
    const writer = await store.create('order')
    const writes = Array.from({ length: 50 }, (_, index) => writer.write(Buffer.from([index])))
    await writer.complete()
    await Promise.all(writes)
    expect([...(await store.readBytes('order'))]).toEqual(Array.from({ length: 50 }, (_, index) => index))
  })

  test('a read that its reader ends early releases the object', async () => {
    await store.put('released', Buffer.alloc(2 * MIB))
    for (let round = 0; round < 60; round++) {
      const stream = await store.read('released')
      for await (const chunk of stream) {
        expect(chunk.length).toBeGreaterThan(0)
        break
      }
      expect(stream.destroyed).toBe(true)
    }
    await store.delete(['released'])
    expect(await store.stat('released')).toBeUndefined()
  })

  test('accepts keys of the documented form only, and nothing appears outside the store', async () => {
    const neighbours = await readdir(dirname(fixture.directory))
    await fc.assert(
      fc.asyncProperty(pathLike, async (key) => {
        const work = [
          () => store.put(key, Buffer.from('x')),
          () => store.stat(key),
          () => store.read(key).then((stream) => stream.destroy()),
          () => store.delete([key]),
          () => store.create(key).then((writer) => writer.abort()),
          () => store.presign(key, { expiresSeconds: 1, fileName: 'x', contentType: 'text/plain' }),
        ]
        if (VALID_KEY.test(key)) {
          // The S3 server of tests reads keys such as "0" and "E0" in a deletion as numbers.
          fc.pre(/[g-z/]/i.test(key))
          await store.put(key, Buffer.from(key))
          expect(Buffer.from(await store.readBytes(key)).toString()).toBe(key)
          await store.delete([key])
        } else {
          for (const attempt of work) await expect(attempt(), key).rejects.toThrow('is not a key')
        }
      }),
      { numRuns: 150 },
    )
    for (const prefix of ['../', '/', 'a//', './', 'a/../', 'a b', '~incoming']) {
      await expect(keysIn(store, prefix), prefix).rejects.toThrow('is not a prefix')
    }
    expect(await readdir(dirname(fixture.directory))).toEqual(neighbours)
  })
})
