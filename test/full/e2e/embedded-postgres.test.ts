import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/core/database/embedded.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'
import { waitFor } from '../../support/world/wait.ts'

/** Creates a data directory and tracks the databases started in it; disposal stops and deletes both. */
async function createDataDir() {
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-embedded-'))
  const started: EmbeddedPostgres[] = []
  const logged: string[] = []
  const lost: Error[] = []
  const pidFile = join(dataDir, 'cluster/data/postmaster.pid')
  return {
    dataDir,
    logged,
    lost,
    pidFile,
    /** Returns the process id of the server. */
    pid: async () => Number.parseInt(await readFile(pidFile, 'utf8'), 10),
    async start(): Promise<EmbeddedPostgres> {
      const database = await startEmbeddedPostgres({
        dataDir,
        durable: false,
        log: (line) => logged.push(line),
        onLost: (cause) => lost.push(cause),
      })
      started.push(database)
      return database
    },
    async [Symbol.asyncDispose]() {
      for (const database of started) await database.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Creates a data directory that already has a database. It copies a template, which is faster than a first start. */
async function createUsedDataDir() {
  const location = await createDataDir()
  await cp(used.dataDir, location.dataDir, { recursive: true })
  return location
}

let used: Awaited<ReturnType<typeof createDataDir>>
beforeAll(async () => {
  used = await createDataDir()
  await (await used.start()).stop()
})
afterAll(() => used[Symbol.asyncDispose]())

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Creates files, and folders for paths that end with a slash. */
async function createFiles(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(path.endsWith('/') ? join(folder, path) : dirname(join(folder, path)), { recursive: true })
    if (!path.endsWith('/')) await writeFile(join(folder, path), 'content')
  }
}

/** Starts a second Wheelhouse process, which starts the database and keeps it running until the process ends. */
async function startElsewhere(dataDir: string) {
  const child = spawnElsewhere(dataDir)
  const [url] = await once(child.stdout, 'data')
  return { url: String(url), pid: child.pid!, child }
}

function spawnElsewhere(dataDir: string) {
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL('../../../src/core/database/embedded.ts', import.meta.url))}
    const { url } = await startEmbeddedPostgres({ dataDir: process.argv[1], log() {} })
    setInterval(() => {}, 1000)
    process.stdout.write(url)`
  return spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function kill(child: ReturnType<typeof spawn>) {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Repeats a check while a server is restarted, which takes long on a busy machine. */
const afterRestart = (check: () => unknown) => vi.waitFor(check, { timeout: 300_000, interval: 50 })

/** Each test starts processes, and the tests run concurrently; on a busy machine they delay each other. */
describe.concurrent('the embedded PostgreSQL', () => {
  test('a first start creates the database and listens on this machine only', async () => {
    await using location = await createDataDir()
    const { url } = await location.start()

    const [row] = await query(
      url,
      `select current_database() as database, current_setting('listen_addresses') as host,
            current_setting('unix_socket_directories') as sockets, current_setting('server_encoding') as encoding`,
    )
    expect(row).toEqual({ database: 'wheelhouse', host: '127.0.0.1', sockets: '', encoding: 'UTF8' })
  })

  test('the database accepts only the password of its data directory', async () => {
    await using location = await createDataDir()
    const { url } = await location.start()
    const wrong = new URL(url)
    wrong.password = 'guess'

    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed')
    const { mode } = await stat(join(location.dataDir, 'cluster/password'))
    expect(mode & 0o777).toBe(0o600)
  })

  test('data survives a restart', async () => {
    await using location = await createUsedDataDir()
    const first = await location.start()
    await query(first.url, 'create table kept as select 42 as answer')
    await Promise.all([first.stop(), first.stop()])
    await expect(query(first.url, 'select 1')).rejects.toThrow('ECONNREFUSED')

    const second = await location.start()

    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('of two concurrent first starts, one gets the database and the other is refused', async () => {
    await using location = await createDataDir()
    const outcomes = await Promise.allSettled([location.start(), location.start()])

    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('a second Wheelhouse on the same data is refused with the process id of the first', async () => {
    await using location = await createUsedDataDir()
    const other = await startElsewhere(location.dataDir)
    try {
      await expect(location.start()).rejects.toThrow(
        new RegExp(`already in use by process ${other.pid}\\b.*DATA_DIR or DATABASE_URL`),
      )
      expect(await query(other.url, 'select 1 as alive')).toEqual([{ alive: 1 }])
    } finally {
      await kill(other.child)
      await (await location.start()).stop()
    }
  })

  test('a new Wheelhouse takes over the server of a killed one', async () => {
    await using location = await createUsedDataDir()
    const other = await startElsewhere(location.dataDir)
    await query(other.url, 'create table kept as select 42 as answer')
    await kill(other.child)

    const { url } = await location.start()

    expect(url).toBe(other.url)
    expect(location.logged).toEqual([expect.stringContaining('took over')])
    expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('a killed server recovers at the next start', async () => {
    await using location = await createUsedDataDir()
    const other = await startElsewhere(location.dataDir)
    await query(other.url, 'create table kept as select 42 as answer')
    await kill(other.child)
    process.kill(Number.parseInt(await readFile(location.pidFile, 'utf8'), 10), 'SIGKILL')

    const { url } = await location.start()

    expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('a running Wheelhouse restarts a killed server at the same address', async () => {
    await using location = await createUsedDataDir()
    const { url } = await location.start()
    await query(url, 'create table kept as select 42 as answer')
    await query(url, 'checkpoint') // test databases do not wait for the disk at a commit
    const killed = await location.pid()

    process.kill(killed, 'SIGKILL')

    await afterRestart(async () =>
      expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]),
    )
    expect(await location.pid()).not.toBe(killed)
    await afterRestart(() => expect(location.logged).toContain('restarted the embedded PostgreSQL'))
    // Wheelhouse also monitors the restarted server.
    process.kill(await location.pid(), 'SIGKILL')
    await afterRestart(async () =>
      expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]),
    )
  })

  test('a server that cannot be restarted is reported once, with the message of PostgreSQL', async () => {
    await using location = await createUsedDataDir()
    await location.start()
    await writeFile(join(location.dataDir, 'cluster/data/PG_VERSION'), '9.6\n')

    process.kill(await location.pid(), 'SIGKILL')

    await afterRestart(() => expect(location.lost).toHaveLength(1))
    expect(location.lost[0]?.message).toMatch(/could not be restarted.*incompatible with server/s)
  })

  test('a stop during a restart ends the server', async () => {
    await using location = await createUsedDataDir()
    const database = await location.start()
    process.kill(await location.pid(), 'SIGKILL')
    await afterRestart(() =>
      expect(location.logged.join()).toContain('lost the connection to the embedded PostgreSQL'),
    )

    await database.stop()

    await expect(query(database.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    expect(location.lost).toEqual([])
  })

  test('a pid file does not prevent a start when its process id belongs to another program', async () => {
    await using location = await createUsedDataDir()
    // The test runner: a running process that is not PostgreSQL.
    await writeFile(
      location.pidFile,
      `${process.ppid}\n${join(location.dataDir, 'cluster/data')}\n0\n5432\n\n127.0.0.1\n\nready\n`,
    )

    const { url } = await location.start()

    expect(await query(url, 'select 1 as answer')).toEqual([{ answer: 1 }])
  })

  test.each([
    ['an empty folder of the cluster', ['cluster/']],
    ['a cluster with only a password', ['cluster/password']],
    [
      'a cluster with its log and without data',
      ['cluster/password', 'cluster/postgres.log', 'cluster/data/'],
    ],
    [
      'a half-made cluster of a process that has ended',
      ['cluster.new-4194304-Ab/password', 'cluster.new-4194304-Ab/data/base/1/1'],
    ],
  ])('a first start succeeds after an earlier one left %s', async (_, paths) => {
    await using location = await createDataDir()
    await createFiles(location.dataDir, paths)

    const { url } = await location.start()

    expect(await query(url, 'select 1 as answer')).toEqual([{ answer: 1 }])
    expect(await readdir(location.dataDir)).toEqual(['cluster'])
  })

  test('a first start succeeds right after one was killed while it created the database', async () => {
    await using location = await createDataDir()
    const killed = spawnElsewhere(location.dataDir)
    await vi.waitFor(
      async () => {
        const [building] = await readdir(location.dataDir)
        expect(await readdir(join(location.dataDir, building!, 'data'))).toContain('base')
      },
      { timeout: 300_000, interval: 5 },
    )
    await kill(killed)

    const { url } = await location.start()

    expect(await query(url, 'select 1 as answer')).toEqual([{ answer: 1 }])
  })

  test.each([
    ['an unknown file', ['cluster/notes.txt'], 'contains notes.txt and no database of Wheelhouse'],
    [
      'data that is not complete',
      ['cluster/password', 'cluster/data/base/1'],
      'without its file data/PG_VERSION',
    ],
    ['data without a password', ['cluster/data/PG_VERSION'], 'without its file password'],
    ['a file in place of the cluster', ['cluster'], 'is a file'],
    ['the data of another PostgreSQL', ['PG_VERSION'], 'is the data directory of another PostgreSQL'],
  ])('a folder with %s is refused and not changed', async (_, paths, reason) => {
    await using location = await createDataDir()
    await createFiles(location.dataDir, paths)
    const before = await readdir(location.dataDir, { recursive: true })

    await expect(location.start()).rejects.toThrow(new RegExp(`${location.dataDir}.* ${reason}.*DATA_DIR`))
    expect(await readdir(location.dataDir, { recursive: true })).toEqual(before)
  })

  test('a failed start reports the message of PostgreSQL', async () => {
    await using location = await createUsedDataDir()
    await writeFile(join(location.dataDir, 'cluster/data/PG_VERSION'), '9.6\n')

    await expect(location.start()).rejects.toThrow(/did not start:.*incompatible with server.*version 9\.6/s)
  })
})

describe('a platform process that is asked to end', () => {
  /** Starts a platform whose database is in a used directory. Returns it with a check of its PostgreSQL. */
  async function startPlatform() {
    const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-signals-'))
    const pidFile = join(folder, 'postgres/cluster/data/postmaster.pid')
    const app = startWheelhouse({ DATA_DIR: folder, DEMO: 'false' })
    const postmasterPid = async () => Number.parseInt(await readFile(pidFile, 'utf8'), 10)
    return {
      app,
      started: () => waitFor(async () => expect(await postmasterPid()).toBeGreaterThan(0)),
      postmasterPid,
      async [Symbol.asyncDispose]() {
        await app[Symbol.asyncDispose]()
        await rm(folder, { recursive: true, force: true })
      },
    }
  }
  const ended = (pid: number) => waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))

  test('while it starts ends at once, and its PostgreSQL with it', async () => {
    await using platform = await startPlatform()
    await platform.started()
    const pid = await platform.postmasterPid()
    expect(await platform.app.end('SIGINT')).toEqual({ code: 130, signal: null })
    await ended(pid)
  })

  test('twice does not wait, and ends its PostgreSQL', async () => {
    await using platform = await startPlatform()
    await platform.app.serving()
    const pid = await platform.postmasterPid()
    const first = platform.app.end('SIGTERM')
    await platform.app.line((text) => text.includes('"stopping"'))
    void platform.app.end('SIGTERM')
    expect((await first).signal).toBeNull()
    await ended(pid)
  })

  test('because its terminal closed drains', async () => {
    await using platform = await startPlatform()
    await platform.app.serving()
    const pid = await platform.postmasterPid()
    expect(await platform.app.end('SIGHUP')).toEqual({ code: 0, signal: null })
    expect(platform.app.output()).toContain('"stopped"')
    await ended(pid)
  })
})
