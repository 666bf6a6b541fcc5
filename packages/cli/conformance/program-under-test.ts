import { spawn } from 'node:child_process'
import { Failure } from '../lib/failure.ts'

/** A program that runs, or a robot that a person has started. */
export interface Running {
  /** Why the program has ended by itself; undefined while it runs. */
  readonly ended: string | undefined
  /** The end of what it has printed. */
  readonly output: string
  /** Ends it, and everything that it has started. */
  end(): Promise<void>
  /** Sends a signal to it. */
  signal?(name: NodeJS.Signals): void
}

/** Starts the program under test. `onEnd` is called when it ends. */
export interface Launcher {
  /** Whether a person starts it, who should be asked as rarely as possible. */
  readonly isManual: boolean
  start(variables: Readonly<Record<string, string>>, onEnd: () => void): Promise<Running>
}

/** What is kept of the output of a program: the last characters. */
const MAX_OUTPUT_CHARACTERS = 4_000
/** How long a program may take to end by itself. */
const TERMINATION_LIMIT_MS = 2_000

/** Returns a launcher of a command, which gets an own process group, so that all that it starts ends with it. */
export function launchCommand(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Launcher {
  const [file = '', ...args] = command
  return {
    isManual: false,
    async start(variables, onEnd) {
      const child = spawn(file, args, {
        env: { ...env, ...variables },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      let output = ''
      let ended: string | undefined
      const closed = Promise.withResolvers<void>()
      const signalGroup = (name: NodeJS.Signals) => {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, name)
        } catch {
          // All of its processes have ended.
        }
      }
      const killAtExit = () => signalGroup('SIGKILL')
      process.once('exit', killAtExit)
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-MAX_OUTPUT_CHARACTERS)
        })
      }
      child.once('exit', (code, name) => {
        ended = name === null ? `the program ended with ${code}` : `the program ended by ${name}`
        closed.resolve()
        onEnd()
      })
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve)
        child.once('error', (cause) => {
          process.off('exit', killAtExit)
          reject(new Failure('usage', `${file} cannot be started: ${cause.message}`))
        })
      })
      return {
        get ended() {
          return ended
        },
        get output() {
          return output
        },
        signal: (name) => void child.kill(name),
        async end() {
          signalGroup('SIGTERM')
          const timer = setTimeout(() => signalGroup('SIGKILL'), TERMINATION_LIMIT_MS)
          await closed.promise
          clearTimeout(timer)
          // What it has started may still run.
          signalGroup('SIGKILL')
          process.off('exit', killAtExit)
        },
      }
    },
  }
}

/** Returns a launcher of a robot that a person starts at a printed address. */
export const launchByHand = (say: (text: string) => void): Launcher => ({
  isManual: true,
  async start(variables) {
    say('Start the robot, or connect it again, with:')
    for (const [name, value] of Object.entries(variables)) say(`  ${name}=${value}`)
    return { ended: undefined, output: '', end: async () => {} }
  },
})
