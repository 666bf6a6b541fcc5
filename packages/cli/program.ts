import { inspect } from 'node:util'
import { Command, CommanderError, Help } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Env } from './lib/credentials.ts'
import { CommandAborted, EXIT, type ExitOutcome, Failure } from './lib/failure.ts'
import { STOP_DESCRIPTION } from './lib/options.ts'
import type { Terminal } from './lib/terminal.ts'
import { escapeText } from './lib/text.ts'
import { version } from './lib/version.ts'

const HELP_FOOTER = `
Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not signed in, 4 not found, 5 conflict, 6 platform unreachable,
7 not allowed, 8 too many requests, 70 internal error, 130 interrupted.
Environment: WHEELHOUSE_URL, WHEELHOUSE_PROFILE, WHEELHOUSE_API_KEY, WHEELHOUSE_HUB_URL, NO_COLOR; from Node:
NODE_EXTRA_CA_CERTS for certificates of your own authority, NODE_USE_ENV_PROXY=1 with HTTPS_PROXY for proxies.`

/** A file of commands. */
interface Noun {
  /** Declare the arguments, options and subcommands of each command. */
  readonly commands: Readonly<Record<string, (command: Command, action: CreateAction) => void>>
}

/**
 * The commands in the order of the help, and the files that declare them. A file is loaded when its command is used,
 * because most load the SDK, which takes longer than all the rest of a start.
 */
const COMMANDS: readonly (readonly [usage: string, description: string, load: () => Promise<Noun>])[] = [
  [
    'login [options] [address]',
    'sign in to a platform: in a browser, or with an API key',
    () => import('./login.ts'),
  ],
  ['logout [options]', 'remove a sign-in, and end it at the identity provider', () => import('./login.ts')],
  ['whoami', 'show your account and its platform', () => import('./login.ts')],
  ['profiles', 'your sign-ins', () => import('./login.ts')],
  ['robots', 'your robots, and those that you may drive', () => import('./robots.ts')],
  ['sessions', 'your sessions', () => import('./sessions.ts')],
  ['stop [options] [session]', STOP_DESCRIPTION, () => import('./sessions.ts')],
  [
    'watch [options] [session]',
    'watch a session live: state, telemetry, log and chat; s or space stops the robot',
    () => import('./watch/watch.ts'),
  ],
  [
    'chat [options] <session> [text...]',
    'chat in a session: one message, or line by line at a terminal',
    () => import('./chat.ts'),
  ],
  [
    'drive [target]',
    'drive a robot with the keyboard; Ctrl-C stops it and releases it',
    () => import('./drive.ts'),
  ],
  [
    'simulate [options] [count]',
    'connect simulated robots as yours, until Ctrl-C; reuses the robots of earlier calls',
    () => import('./simulate.ts'),
  ],
  [
    'conformance',
    'test a robot or an operator program of yours against the protocol; needs no platform',
    () => import('./conformance.ts'),
  ],
  ['ros', 'connect a robot with ROS, without code', () => import('./ros.ts')],
  ['episodes', 'episodes of an open session, for datasets', () => import('./episodes.ts')],
  [
    'recordings',
    'recordings of your robots and of sessions that you operated',
    () => import('./recordings.ts'),
  ],
  ['datasets', 'datasets of your robots, and their exports', () => import('./datasets.ts')],
  [
    'export [options] [what]',
    'write your sessions, datasets or episodes to a file or to standard output',
    () => import('./export.ts'),
  ],
  [
    'events [options]',
    'print your events, oldest first; as JSON Lines with --json',
    () => import('./events.ts'),
  ],
  ['webhooks', 'your webhooks', () => import('./webhooks.ts')],
  ['keys', 'your API keys; requires a browser sign-in', () => import('./keys.ts')],
  [
    'service-accounts',
    'programs of an organization, and their API keys',
    () => import('./service-accounts.ts'),
  ],
  ['status', 'show whether the platform works; needs no sign-in', () => import('./platform.ts')],
  [
    'search <words...>',
    'find robots and sessions that you may open, as an admin also users',
    () => import('./platform.ts'),
  ],
  ['stats', 'show your statistics, as a client or as an operator', () => import('./platform.ts')],
  ['schedule', 'show your weekly schedule, and whether you are available now', () => import('./platform.ts')],
  ['invoices', 'your monthly invoices', () => import('./invoices.ts')],
  ['audit', 'the audit log of your organization: export, and offline check', () => import('./audit.ts')],
  ['notifications [options]', 'list your notifications, newest first', () => import('./notifications.ts')],
  [
    'notification-settings',
    'which notifications reach you, how and when',
    () => import('./notifications.ts'),
  ],
  [
    'mcp',
    "serve the platform's MCP server on standard input and output, signed in as you",
    () => import('./mcp.ts'),
  ],
  ['admin', 'for admins of the platform', () => import('./admin.ts')],
]

/**
 * Creates the command line.
 * @param words the words of a command line: only the commands that they name are loaded. Without it, all are.
 */
export async function createProgram(terminal: Terminal, words?: readonly string[]): Promise<Command> {
  /** Of the commands that are not loaded. */
  const usages = new Map<Command, string>()
  const program = new Command('wheelhouse')
    .description('Robots, sessions and keys of a Wheelhouse platform')
    .version(version)
    .exitOverride()
    // The caller prints errors once, as JSON with --json.
    .configureOutput({ outputError: () => {} })
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => usages.get(command) ?? new Help().subcommandTerm(command),
    })
    .option('-s, --server <address>', 'the platform, such as https://hub.example')
    .option('-p, --profile <name>', 'the stored sign-in to use')
    .option('--hub <address>', 'the hub, if it has a separate address')
    .option('--json', 'results as JSON, errors as {"error","code"} on standard error')
    .option('-q, --quiet', 'only results and errors')
    .option('-y, --yes', 'answer yes to every question')
    .option('--no-color', 'no colours')
    .addHelpText('after', HELP_FOOTER)
  for (const [usage, description, load] of COMMANDS) {
    const [name = ''] = usage.split(' ')
    const command = program.command(name).description(description)
    if (words && !words.includes(name)) usages.set(command, usage)
    else {
      const { actionsOf } = await import('./lib/action.ts')
      const { commands } = await load()
      commands[name]?.(command, actionsOf(terminal))
    }
  }
  if (words?.[0] === 'complete') (await import('./completion.ts')).addCompletion(program)
  else
    program
      .command('complete')
      .description('print a script that completes commands in your shell: bash, zsh, fish or powershell')
      .argument('[shell]')
  return program
}

/** Runs one command line to its end. @returns the exit code */
export async function runProgram(invocation: { argv: readonly string[]; env: Env; process: NodeJS.Process }) {
  const { argv, env, process } = invocation
  const { stdin, stdout, stderr } = process
  const shutdown = createShutdownController(process)
  const terminal: Terminal = { env, stdin, stdout, stderr, signal: shutdown.signal }
  try {
    const program = await createProgram(terminal, argv.slice(2))
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
