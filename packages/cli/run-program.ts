import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import { CommandAborted } from './command-aborted.ts'
import { declareCompletion } from './completion/command.ts'
import type { Env } from './credentials/config-directory.ts'
import { EXIT, type ExitOutcome } from './exit-codes.ts'
import { Failure } from './failure.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'
import { escapeText } from './text.ts'

/** Runs one command line to its end. @returns the exit code */
export async function runProgram(invocation: { argv: readonly string[]; env: Env; process: NodeJS.Process }) {
  const { argv, env, process } = invocation
  const { stdin, stdout, stderr } = process
  const shutdown = createShutdownController(process)
  const terminal: Terminal = { env, stdin, stdout, stderr, signal: shutdown.signal }
  const program = createProgram(terminal)
  try {
    if (argv[2] === 'complete') (await import('./completion/completion.ts')).addCompletion(program)
    else declareCompletion(program)
    await program.parseAsync([...argv])
    await flush(stdout)
    const unwritten =
      shutdown.signal.reason instanceof CommandAborted && shutdown.signal.reason.outcome === 'refused'
    if (unwritten) throw shutdown.signal.reason
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT.done
  } catch (cause) {
    if (cause instanceof CommanderError) {
      if (cause.exitCode === 0) return EXIT.done
      // Without a command, commander has printed the help.
      if (cause.code !== 'commander.help')
        report('usage', cause.message.replace(/^error: /, '').replaceAll('\n', ' '))
      return EXIT.usage
    }
    if (shutdown.signal.aborted) {
      const { outcome, message } = shutdown.signal.reason as CommandAborted
      // A command's own message about the interruption has precedence.
      const ownFailure = cause instanceof Failure ? cause : undefined
      if (outcome !== 'done') report(outcome, ownFailure?.message ?? message)
      else if (ownFailure) return EXIT[ownFailure.outcome]
      return EXIT[outcome]
    }
    const failure = cause instanceof Failure ? cause : new Failure('internal', String(cause), { cause })
    report(failure.outcome, failure.message)
    if (env.WHEELHOUSE_DEBUG) stderr.write(`${inspect(failure.cause ?? failure)}\n`)
    return EXIT[failure.outcome]
  }

  function report(outcome: ExitOutcome, message: string): void {
    const text = argv.includes('--json')
      ? JSON.stringify({ error: message, code: outcome })
      : `wheelhouse: ${escapeText(message)}`
    stderr.write(`${text}\n`)
  }
}

/** Settles when the stream has written its buffer or failed. */
const flush = (stream: NodeJS.WritableStream) => new Promise<void>((done) => stream.write('', () => done()))

/** Aborts a command on Ctrl-C, on SIGTERM, and on write errors. A second signal exits at once. */
function createShutdownController(process: NodeJS.Process): AbortController {
  const shutdown = new AbortController()
  for (const [name, outcome] of [
    ['SIGINT', 'interrupted'],
    ['SIGTERM', 'terminated'],
    ['SIGHUP', 'terminated'],
  ] as const) {
    process.on(name, () => {
      if (shutdown.signal.aborted) process.exit(EXIT[outcome])
      shutdown.abort(new CommandAborted(outcome, 'Interrupted.'))
    })
  }
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    // A closed reader, such as `| head`, is not an error. A full disk is.
    const isReaderClosed = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
    const why = isReaderClosed ? 'The reader closed.' : `Standard output cannot be written (${code}).`
    shutdown.abort(new CommandAborted(isReaderClosed ? 'done' : 'refused', why))
  })
  // A command continues when standard error is closed: a remote stop must not depend on it.
  process.stderr.on('error', () => {})
  return shutdown
}
