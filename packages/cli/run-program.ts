import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import { announceCompletion } from './completion/command.ts'
import type { Env } from './credentials/places.ts'
import { Ended } from './ended.ts'
import { EXIT, type Outcome } from './exit-codes.ts'
import { Failure } from './failure.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'
import { escaped } from './text.ts'

/** Runs one command line to its end. @returns the exit code */
export async function runProgram(parts: { argv: readonly string[]; env: Env; process: NodeJS.Process }) {
  const { argv, env, process } = parts
  const { stdin, stdout, stderr } = process
  const end = endings(process)
  const terminal: Terminal = { env, stdin, stdout, stderr, signal: end.signal }
  const program = createProgram(terminal)
  try {
    if (argv[2] === 'complete') (await import('./completion/completion.ts')).addCompletion(program)
    else announceCompletion(program)
    await program.parseAsync([...argv])
    await flushed(stdout)
    const unwritten = end.signal.reason instanceof Ended && end.signal.reason.outcome === 'refused'
    if (unwritten) throw end.signal.reason
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT.done
  } catch (cause) {
    if (cause instanceof CommanderError) {
      if (cause.exitCode === 0) return EXIT.done
      // Whoever names no command gets the help instead of a message.
      if (cause.code !== 'commander.help')
        report('usage', cause.message.replace(/^error: /, '').replaceAll('\n', ' '))
      return EXIT.usage
    }
    if (end.signal.aborted) {
      const { outcome, message } = end.signal.reason as Ended
      // What a command says itself of its interruption counts more.
      const own = cause instanceof Failure ? cause : undefined
      if (outcome !== 'done') report(outcome, own?.message ?? message)
      else if (own) return EXIT[own.outcome]
      return EXIT[outcome]
    }
    const failure = cause instanceof Failure ? cause : new Failure('internal', String(cause), { cause })
    report(failure.outcome, failure.message)
    if (env.WHEELHOUSE_DEBUG) stderr.write(`${inspect(failure.cause ?? failure)}\n`)
    return EXIT[failure.outcome]
  }

  function report(outcome: Outcome, message: string): void {
    const text = argv.includes('--json')
      ? JSON.stringify({ error: message, code: outcome })
      : `wheelhouse: ${escaped(message)}`
    stderr.write(`${text}\n`)
  }
}

/** Settles when what was written has gone its way, or cannot. */
const flushed = (stream: NodeJS.WritableStream) => new Promise<void>((done) => stream.write('', () => done()))

/** What ends a command early: Ctrl-C, SIGTERM (a second one at once), and results that cannot be written. */
function endings(process: NodeJS.Process): AbortController {
  const end = new AbortController()
  for (const [name, outcome] of [
    ['SIGINT', 'interrupted'],
    ['SIGTERM', 'terminated'],
    ['SIGHUP', 'terminated'],
  ] as const) {
    process.on(name, () => {
      if (end.signal.aborted) process.exit(EXIT[outcome])
      end.abort(new Ended(outcome, 'Interrupted.'))
    })
  }
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    // As `| head` does it: whoever reads has seen enough. A full disk is another matter.
    const gone = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
    const why = gone ? 'Nobody reads on.' : `Standard output cannot be written (${code}).`
    end.abort(new Ended(gone ? 'done' : 'refused', why))
  })
  // What happens is done all the same when nobody reads about it: an emergency stop above all.
  process.stderr.on('error', () => {})
  return end
}
