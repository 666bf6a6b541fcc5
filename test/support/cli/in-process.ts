import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { runProgram } from '../../../packages/cli/program.ts'
import type { CliUser, Finished } from './terminal.ts'

/** Screen of a command that believes it writes to a terminal. */
export interface Screen {
  readonly columns: number
  readonly rows: number
}

/** Standard output or error, collected. */
class Collected extends Writable {
  text = ''
  readonly isTTY: boolean
  readonly columns: number | undefined
  readonly rows: number | undefined

  constructor(screen?: Screen) {
    super({ decodeStrings: false })
    this.isTTY = screen !== undefined
    this.columns = screen?.columns
    this.rows = screen?.rows
  }

  override _write(chunk: string | Uint8Array, _encoding: string, done: () => void): void {
    this.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    done()
  }
}

/**
 * Runs `wheelhouse …` in this process, which costs a tenth of a process: for results and exit codes of commands. Signals,
 * pipes and keys need a process: `startCli`, `openTerminal`.
 * @param input standard input; without it, it stays open
 */
export function startInProcess(
  user: CliUser,
  args: readonly string[],
  { input, screen }: { input?: string; screen?: Screen } = {},
) {
  const stdin = Object.assign(new PassThrough(), { isTTY: screen !== undefined })
  if (input !== undefined) stdin.end(input)
  const [stdout, stderr] = [new Collected(screen), new Collected(screen)]
  const host = Object.assign(new EventEmitter(), { stdin, stdout, stderr })
  const invocation = {
    argv: ['node', 'wheelhouse', ...args],
    env: screen ? { ...user.env, TERM: 'xterm-256color' } : user.env,
    // The program uses its streams and signals only.
    process: host as unknown as NodeJS.Process,
  }
  const ended = runProgram(invocation).then(
    (code): Finished => ({
      code,
      stdout: stdout.text,
      stderr: stderr.text,
      get json() {
        return JSON.parse(stdout.text)
      },
    }),
  )
  return {
    ended,
    stdin,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    /** Does what the arrival of a signal does in a process. */
    signal: (name: 'SIGINT' | 'SIGTERM') => void host.emit(name),
  }
}

/** Runs `wheelhouse …` in this process to its end. */
export const cli = (user: CliUser, args: readonly string[], input = ''): Promise<Finished> =>
  startInProcess(user, args, { input }).ended
