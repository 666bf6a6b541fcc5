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

/** Declares the arguments, options and subcommands of a command. */
type Declare = (command: Command, action: CreateAction) => void

/**
 * The commands in the order of the help, and the files that declare them. A file is loaded when its command is used,
 * because most load the SDK, which takes longer than all the rest of a start.
 */
const COMMANDS: readonly (readonly [usage: string, description: string, load: () => Promise<Declare>])[] = [
  [
    'login [options] [address]',
    'sign in to a platform: in a browser, or with an API key',
    async () => (await import('./login.ts')).declareLogin,
  ],
  [
    'logout [options]',
    'remove a sign-in, and end it at the identity provider',
    async () => (await import('./login.ts')).declareLogout,
  ],
  ['whoami', 'show your account and its platform', async () => (await import('./login.ts')).declareWhoami],
  ['profiles', 'your sign-ins', async () => (await import('./login.ts')).declareProfiles],
  [
    'robots',
    'your robots, and those that you may drive',
    async () => (await import('./robots.ts')).declareRobots,
  ],
  ['sessions', 'your sessions', async () => (await import('./sessions.ts')).declareSessions],
  ['stop [options] [session]', STOP_DESCRIPTION, async () => (await import('./sessions.ts')).declareStop],
  [
    'watch [options] [session]',
    'watch a session live: state, telemetry, log and chat; s or space stops the robot',
    async () => (await import('./watch/watch.ts')).declareWatch,
  ],
  [
    'chat [options] <session> [text...]',
    'chat in a session: one message, or line by line at a terminal',
    async () => (await import('./chat.ts')).declareChat,
  ],
  [
    'drive [target]',
    'drive a robot with the keyboard; Ctrl-C stops it and releases it',
    async () => (await import('./drive.ts')).declareDrive,
  ],
  [
    'simulate [options] [count]',
    'connect simulated robots as yours, until Ctrl-C; reuses the robots of earlier calls',
    async () => (await import('./simulate.ts')).declareSimulate,
  ],
  [
    'episodes',
    'episodes of an open session, for datasets',
    async () => (await import('./episodes.ts')).declareEpisodes,
  ],
  [
    'recordings',
    'recordings of your robots and of sessions that you operated',
    async () => (await import('./recordings.ts')).declareRecordings,
  ],
  [
    'datasets',
    'datasets of your robots, and their exports',
    async () => (await import('./datasets.ts')).declareDatasets,
  ],
  [
    'export [options] [what]',
    'write your sessions, datasets or episodes to a file or to standard output',
    async () => (await import('./export.ts')).declareExport,
  ],
  [
    'events [options]',
    'print your events, oldest first; as JSON Lines with --json',
    async () => (await import('./events.ts')).declareEvents,
  ],
  ['webhooks', 'your webhooks', async () => (await import('./webhooks.ts')).declareWebhooks],
  ['keys', 'your API keys; requires a browser sign-in', async () => (await import('./keys.ts')).declareKeys],
  [
    'status',
    'show whether the platform works; needs no sign-in',
    async () => (await import('./platform.ts')).declareStatus,
  ],
  [
    'search <words...>',
    'find robots and sessions that you may open, as an admin also users',
    async () => (await import('./platform.ts')).declareSearch,
  ],
  [
    'stats',
    'show your statistics, as a client or as an operator',
    async () => (await import('./platform.ts')).declareStats,
  ],
  [
    'schedule',
    'show your weekly schedule, and whether you are available now',
    async () => (await import('./platform.ts')).declareSchedule,
  ],
  ['invoices', 'your monthly invoices', async () => (await import('./invoices.ts')).declareInvoices],
  [
    'notifications [options]',
    'list your notifications, newest first',
    async () => (await import('./notifications.ts')).declareNotifications,
  ],
  [
    'notification-settings',
    'which notifications reach you, how and when',
    async () => (await import('./notifications.ts')).declareNotificationSettings,
  ],
  [
    'mcp',
    "serve the platform's MCP server on standard input and output, signed in as you",
    async () => (await import('./mcp.ts')).declareMcp,
  ],
  ['admin', 'for admins of the platform', async () => (await import('./admin.ts')).declareAdmin],
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
      ;(await load())(command, actionsOf(terminal))
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
