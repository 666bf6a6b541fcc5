import { execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, fchownSync, openSync, readSync, statSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from '../concurrency/concurrency.ts'
import type { Cluster } from './embedded-cluster.ts'
import { command, isAlive } from './embedded-launch.ts'

const LOG_LIMIT_BYTES = 1_000_000
const LOG_TAIL_BYTES = 4_000
const LOG_TAIL_LINES = 12
const EMPTY_PID_FILE_MS = 2_000
const FAST_STOP_MS = 15_000
const IMMEDIATE_STOP_MS = 5_000

/** The main process of PostgreSQL, as postmaster.pid describes it. */
export interface Postmaster {
  readonly pid: number
  /** The data directory, as the path it was started with. */
  readonly data: string
  readonly port: number
  readonly ready: boolean
}

/** A PostgreSQL that this process spawned and that may still be starting. */
export interface Launch {
  readonly pid: number | undefined
  /** Returns why the process exited, or undefined while it runs. */
  failure(): string | undefined
}

/** Returns a free port of 127.0.0.1. Another process may take it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1')
  return address.port
}

/**
 * Returns the PostgreSQL that runs on this data directory, if any. Removes two remnants of a crash that prevent a
 * start of PostgreSQL: a pid file whose process id belongs to another program now (usual after a container restart),
 * and a pid file that a power failure emptied.
 */
export async function findPostmaster(data: string): Promise<Postmaster | undefined> {
  const file = join(data, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  if (text === '') {
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > EMPTY_PID_FILE_MS) await rm(file, { force: true })
    return undefined
  }
  const [pid, directory, , port, , , , status] = text.split('\n').map((line) => line.trim())
  const found = { pid: Number(pid), data: directory || data, port: Number(port), ready: status === 'ready' }
  if (await isRunning(found)) return found
  if (isAlive(found.pid)) await rm(file, { force: true })
  return undefined
}

/** Returns whether the process is running and is that server, not a zombie or another process with the same id. */
async function isRunning({ pid, data }: Pick<Postmaster, 'pid' | 'data'>): Promise<boolean> {
  return isAlive(pid) && ((await commandLine(pid))?.includes(data) ?? true)
}

/** Returns the command line of a process: empty for a zombie, undefined when the system does not provide it. */
async function commandLine(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') return await readFile(`/proc/${pid}/cmdline`, 'utf8')
    if (process.platform === 'win32') return undefined
    return (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout
  } catch {
    return undefined
  }
}

/** Spawns PostgreSQL on a port of 127.0.0.1. It writes to the log file of the cluster. */
export function launchPostgres(cluster: Cluster, port: number, settings: Record<string, string>): Launch {
  const all = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '', ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { file, args, options } = command(cluster.launcher, cluster.programs.postgres, [
    '-D',
    cluster.data,
    ...flags,
  ])
  const outgrown = (statSync(cluster.logFile, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES
  const output = openSync(cluster.logFile, outgrown ? 'w' : 'a', 0o600)
  const { account } = cluster.launcher
  // The cluster may belong to another account, which must be able to open this file later without root.
  if (account) fchownSync(output, account.uid, account.gid)
  const from = statSync(cluster.logFile).size
  // Detached: a separate process group, so that Ctrl-C in the terminal does not bypass the ordered shutdown.
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  child.unref()

  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  const { pid } = child
  if (pid !== undefined) endWithProcess(pid)
  child.once('exit', (code, signal) => {
    if (pid !== undefined) forgetServer(pid)
    failure =
      logTail(cluster.logFile, from) || `it exited with ${signal ?? `exit code ${code}`} and logged nothing`
  })
  return { pid, failure: () => failure }
}

/** Returns the last lines in the log file of PostgreSQL after a position; empty when the file does not exist. */
function logTail(logFile: string, from: number): string {
  if (!existsSync(logFile)) return '' // the cluster may have been removed right after PostgreSQL exited
  const size = statSync(logFile).size
  const start = Math.max(from, size - LOG_TAIL_BYTES)
  const buffer = Buffer.alloc(Math.max(0, size - start))
  const file = openSync(logFile, 'r')
  try {
    readSync(file, buffer, 0, buffer.length, start)
  } finally {
    closeSync(file)
  }
  return buffer.toString('utf8').trim().split('\n').slice(-LOG_TAIL_LINES).join('\n')
}

/** Running servers of this process. They end with it, also when nothing can wait for them: a second Ctrl-C, or a failed start. */
const ownPids = new Set<number>()
function endOwnServers(): void {
  for (const pid of ownPids) {
    try {
      process.kill(pid, 'SIGINT')
    } catch {
      // It has ended.
    }
  }
}

/** Ends a server with this process, until `forgetServer`: its process id may then belong to another program. */
export function endWithProcess(pid: number): void {
  if (ownPids.size === 0) process.on('exit', endOwnServers)
  ownPids.add(pid)
}

export function forgetServer(pid: number): void {
  if (ownPids.delete(pid) && ownPids.size === 0) process.off('exit', endOwnServers)
}

/**
 * Stops a PostgreSQL. It rolls back open transactions and writes everything to disk. When it does not stop in time,
 * an immediate shutdown follows, which requires a recovery at the next start but loses no committed data.
 */
export async function stopPostmaster(
  cluster: Cluster,
  server: Pick<Postmaster, 'pid' | 'data'>,
): Promise<void> {
  const { pid } = server
  // Windows has no signals. There, pg_ctl uses the signal emulation of PostgreSQL.
  const send = async (signal: 'INT' | 'QUIT') => {
    if (process.platform !== 'win32') process.kill(pid, `SIG${signal}`)
    else await promisify(execFile)(cluster.programs.pg_ctl, ['kill', signal, String(pid)])
  }
  const exited = async () => !(await isRunning(server))
  for (const [signal, limitMs] of [
    ['INT', FAST_STOP_MS],
    ['QUIT', IMMEDIATE_STOP_MS],
  ] as const) {
    if (await exited()) return
    await send(signal).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ESRCH') throw error
    })
    if (await waitUntil(exited, limitMs)) return
  }
  throw new Error(
    `PostgreSQL (process ${pid}) did not stop. End the process before you start Wheelhouse again.`,
  )
}
