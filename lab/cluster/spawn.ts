import { type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { sendTo } from '../../test/support/processes/process-table.ts'
import type { Launched } from './node.ts'

const LOG_TAIL_LINES = 15
/** Starts a program in its own process group, so that Ctrl-C reaches only the cluster, which ends it in order. */
export function launch(
  program: string,
  args: readonly string[],
  options: { logFile: string; env: Record<string, string>; cwd?: string },
): Launched {
  const output = openSync(options.logFile, 'a', 0o600)
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env
  const spawnOptions: SpawnOptions = {
    detached: true,
    env: { PATH, HOME, TMPDIR, ...options.env },
    stdio: ['ignore', output, output],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  }
  const child = spawn(program, args, spawnOptions)
  closeSync(output)
  let ended = false
  const end = () => {
    ended = true
  }
  child.once('exit', end).once('error', end)
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be started`)
  return {
    pid,
    hasEnded: () => ended,
    signal: (name) => void sendTo(-pid, name),
    hasExited: () => !sendTo(-pid, 0),
  }
}

/** Returns the last lines of a log file. */
export function tailOf(logFile: string): string {
  if (!existsSync(logFile)) return '(no log)'
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n')
}
