import { execFile, spawn } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LocalStore } from '../../../src/core/storage/local-store.ts'
import {
  ObjectMissingError,
  StorageFullError,
  StorageUnavailableError,
} from '../../../src/core/storage/object-store.ts'
import { cannotMount, withReadOnly, withSmallDisk } from '../../support/processes/mounted-folders.ts'
import {
  createLocalStore,
  keysIn,
  type LocalStoreFixture,
  listAll,
} from '../../support/storage/store-fixture.ts'

const run = promisify(execFile)
const program = (name: string) => fileURLToPath(new URL(`../../support/storage/${name}.ts`, import.meta.url))
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

let fixture: LocalStoreFixture
let store: LocalStoreFixture['store']
beforeEach(async () => {
  fixture = await createLocalStore()
  store = fixture.store
})
afterEach(() => fixture[Symbol.asyncDispose]())

describe('a process that is killed', () => {
  test('leaves every stored object whole, and nothing else visible', async () => {
    for (const round of times(6)) {
      const child = spawn(process.execPath, [program('endless-writer'), fixture.directory, String(round)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = new Promise((resolve) => child.once('close', resolve))
      const printed: string[] = []
      const lines = createInterface({ input: child.stdout }).on('line', (line) => {
        printed.push(line)
        if (printed.length === 1) void delay(Math.random() * 60).then(() => child.kill('SIGKILL'))
      })
      await exited
      lines.close()
      const stored = await listAll(store, `crash/${round}/`)
      const keys = stored.map(({ key }) => key)
      expect(printed.length).toBeGreaterThan(0)
      expect(keys).toEqual(expect.arrayContaining(printed))
      expect(keys).not.toContain(`crash/${round}/large`)
      for (const [number, { key, sizeBytes }] of stored.entries()) {
        expect(sizeBytes).toBe(64 * 1024 + number)
        const bytes = await store.readBytes(key)
        expect(bytes.every((byte) => byte === number % 256)).toBe(true)
      }
    }
    expect(await fixture.temporaryFiles()).toBeGreaterThanOrEqual(6)
  })

  test('leaves temporary files, which are deleted once they are old', async () => {
    await store.put('object', Buffer.from('x'))
    const incoming = join(fixture.directory, '~incoming')
    const longAgo = Date.now() / 1_000 - 2 * 3_600
    await writeFile(join(incoming, 'old'), 'x')
    await utimes(join(incoming, 'old'), longAgo, longAgo)
    const writer = await store.create('new')
    await new LocalStore(fixture.directory).stat('object')
    expect(await readdir(incoming)).toHaveLength(1)
    await writer.complete()
    expect(await keysIn(store)).toEqual(['new', 'object'])
  })
})

test.skipIf(cannotMount)(
  'a full disk keeps what is stored, and stores again once there is space',
  async () => {
    await mkdir(fixture.directory)
    const [command = '', ...args] = withSmallDisk(fixture.directory, '1m')
    const { stdout } = await run(command, [
      ...args,
      process.execPath,
      program('full-disk'),
      fixture.directory,
    ])
    const full = `full: ${new StorageFullError().message}`
    expect(JSON.parse(stdout)).toEqual({
      first: 'stored',
      tooLarge: full,
      writer: full,
      replaced: full,
      keys: ['first'],
      firstByte: 1,
      temporaryFiles: 0,
      reserved: full,
      second: 'stored',
      third: full,
      deleted: 'stored',
      thirdAgain: 'stored',
    })
  },
)

test.skipIf(cannotMount)('a read-only disk is read, and reported by writes', async () => {
  await store.put('a', Buffer.from('readable'))
  const [command = '', ...args] = withReadOnly(fixture.directory)
  const script = `
    const { LocalStore } = await import(${JSON.stringify(fileURLToPath(new URL('../../../src/core/storage/local-store.ts', import.meta.url)))})
    const store = new LocalStore(process.argv[1])
    const failure = await store.put('b', Buffer.from('x')).catch((error) => error)
    console.log(Buffer.from(await store.readBytes('a')).toString(), failure.name, failure.code, failure.cause.code)`
  const { stdout } = await run(command, [
    ...args,
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
    fixture.directory,
  ])
  expect(stdout.trim()).toBe('readable Error storage_unavailable EROFS')
})

test('a directory that is missing is an outage, without a path in the message, until it can be created', async () => {
  await writeFile(fixture.directory, 'a file in its place')
  const failure = await store.put('a', Buffer.from('x')).catch((error) => error)
  expect(failure).toBeInstanceOf(StorageUnavailableError)
  expect(failure).toMatchObject({ status: 503, code: 'storage_unavailable' })
  expect(failure.message).not.toContain(fixture.directory)
  await rm(fixture.directory)
  await store.put('a', Buffer.from('x'))
  expect(await keysIn(store)).toEqual(['a'])
})

describe('concurrent changes in one folder', () => {
  test('deletions that empty a folder never lose an object that is put there', async () => {
    const other = new LocalStore(fixture.directory) // as in another process
    await Promise.all(
      times(8).map(async (lane) => {
        for (const round of times(60)) {
          const key = `shared/deep/folder/${lane}-${round}`
          const writer = lane % 2 === 0 ? store : other
          await writer.put(key, Buffer.from(key))
          expect(Buffer.from(await store.readBytes(key)).toString()).toBe(key)
          await (lane % 2 === 0 ? other : store).delete([key])
          expect(await store.stat(key)).toBeUndefined()
        }
      }),
    )
    expect(await keysIn(store)).toEqual([])
    expect((await readdir(fixture.directory)).sort()).toEqual(['~incoming'])
  })

  test('readers of an object that is replaced see one version', async () => {
    await store.put('versions', Buffer.alloc(300_000, 0))
    const replace = async () => {
      for (const round of times(60)) await store.put('versions', Buffer.alloc(300_000 + round, round))
    }
    const read = async () => {
      for (const _ of times(60)) {
        const bytes = await store.readBytes('versions')
        const version = bytes[0]
        expect(bytes.every((byte) => byte === version)).toBe(true)
        expect([300_000, 300_000 + Number(version)]).toContain(bytes.length)
      }
    }
    await Promise.all([replace(), read(), read()])
  })

  test('a read of another version than the requested one fails', async () => {
    const first = await store.put('replaced', Buffer.from('first'))
    await store.put('replaced', Buffer.from('other'))
    await expect(store.read('replaced', undefined, first.etag)).rejects.toThrow(ObjectMissingError)
  })
})

test('a key below the key of an object, or above it, is refused and changes nothing', async () => {
  await store.put('a/b', Buffer.from('kept'))
  await expect(store.put('a/b/c', Buffer.from('x'))).rejects.toThrow('above or below')
  await expect(store.put('a', Buffer.from('x'))).rejects.toThrow('above or below')
  expect(await keysIn(store)).toEqual(['a/b'])
  expect(await fixture.temporaryFiles()).toBe(0)
})

test('lists in the order of the keys, also where the order of file names differs', async () => {
  const keys = ['a-b', 'a.b', 'a/b', 'a0', 'ab/c', 'ab/c-d', 'ab/c.d', 'ab/c0', 'A', '_', '-', '0'].sort()
  for (const key of keys.toReversed()) await store.put(key, Buffer.from(''))
  expect(await keysIn(store)).toEqual(keys)
  expect(await keysIn(store, 'a')).toEqual(keys.filter((key) => key.startsWith('a')))
})

describe('symbolic links', () => {
  test('are never followed to other directories or files', async () => {
    await store.put('folder/a', Buffer.from('ours'))
    const outside = join(fixture.directory, '..', 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'secret'), 'theirs')
    await symlink(outside, join(fixture.directory, 'link'))
    await symlink(join(outside, 'secret'), join(fixture.directory, 'folder/link'))
    const attempts = [
      () => store.put('link/new', Buffer.from('x')),
      () => store.read('link/secret'),
      () => store.stat('link/secret'),
      () => store.delete(['link/secret']),
      () => store.read('folder/link'),
      () => keysIn(store, 'link/'),
    ]
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow(StorageUnavailableError)
    expect(await keysIn(store)).toEqual(['folder/a'])
    await store.put('folder/link', Buffer.from('replaces the link'))
    expect(await readdir(outside)).toEqual(['secret'])
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('theirs')
  })

  test('may replace the directory of the store, to another disk', async () => {
    await store.put('a', Buffer.from('x'))
    const elsewhere = join(fixture.directory, '..', 'elsewhere')
    await rename(fixture.directory, elsewhere)
    await symlink(elsewhere, fixture.directory)
    const linked = new LocalStore(fixture.directory)
    await linked.put('b/c', Buffer.from('x'))
    expect(await keysIn(linked)).toEqual(['a', 'b/c'])
  })
})
