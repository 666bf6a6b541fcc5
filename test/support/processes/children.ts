import { type ChildProcess, fork, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const STOP_LIMIT_MS = 90_000
const OUTPUT_KEPT_CHARACTERS = 4_000

export interface Child {
  readonly process: ChildProcess
  /** Settles when it has ended. */
  readonly ended: Promise<void>
  /** Returns the end of its output. */
  output(): string
  onLine(listener: (line: string) => void): void
  /** Sends SIGTERM, and SIGKILL if it does not end. */
  stop(): Promise<void>
  /** Sends SIGKILL. */
  kill(): Promise<void>
}

interface RunOptions {
  readonly env?: Record<string, string>
  readonly nodeFlags?: readonly string[]
  /** A command that replaces itself by the command in its last arguments, such as `ip netns exec NAME`. */
  readonly through?: readonly string[]
}

/** Tracks all processes of the benchmark, so that it can end them by their process ids, however it ends itself. */
export function createChildren() {
  const running = new Set<Child>()

  function track(process: ChildProcess): Child {
    let output = ''
    const listeners: ((line: string) => void)[] = []
    for (const stream of [process.stdout, process.stderr]) {
      if (!stream) continue
      createInterface({ input: stream }).on('line', (line) => {
        output = `${output}${line}\n`.slice(-OUTPUT_KEPT_CHARACTERS)
        for (const listener of listeners) listener(line)
      })
    }
    const ended = new Promise<void>((resolve) => process.once('exit', () => resolve()).once('error', resolve))
    const stop = async () => {
      if (process.exitCode !== null || process.signalCode !== null) return
      process.kill('SIGTERM')
      const timer = setTimeout(() => process.kill('SIGKILL'), STOP_LIMIT_MS)
      await ended
      clearTimeout(timer)
    }
    const kill = async () => {
      process.kill('SIGKILL')
      await ended
    }
    const onLine = (listener: (line: string) => void) => void listeners.push(listener)
    const child: Child = { process, ended, output: () => output.trim(), onLine, stop, kill }
    running.add(child)
    ended.then(() => running.delete(child))
    return child
  }

  return {
    /** Runs a TypeScript file of this repository with an IPC channel, and without this process's environment. */
    run(file: string, options: RunOptions = {}): Child {
      const { env = {}, nodeFlags = [], through = [] } = options
      const [execPath = process.execPath, ...execArgs] = [...through, process.execPath]
      const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env
      const child = fork(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), {
        execPath,
        execArgv: [
          ...execArgs,
          '--expose-gc',
          '--import',
          new URL('probe.ts', import.meta.url).href,
          ...nodeFlags,
        ],
        env: { PATH, HOME, TMPDIR, ...env },
        serialization: 'advanced',
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      })
      return track(child)
    },
    program: (
      name: string,
      args: string[],
      { stdin = 'ignore' }: { stdin?: 'ignore' | 'pipe' } = {},
    ): Child => track(spawn(name, args, { stdio: [stdin, 'pipe', 'pipe'] })),
    async stopAll(): Promise<void> {
      await Promise.all([...running].map((child) => child.stop()))
    },
  }
}
export type Children = ReturnType<typeof createChildren>
