import { CHAT_BODY_MAX } from '@wheelhouse/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { CreateAction } from '../lib/action.ts'
import type { Context } from '../lib/context.ts'
import { EXIT, Failure } from '../lib/failure.ts'
import { resolveSessionId } from '../lib/ids.ts'
import { integer } from '../lib/options.ts'
import { canDraw, openKeys, openLiveScreen } from '../lib/screen.ts'
import { SessionWatch } from './session-watch.ts'
import { watchLines } from './watch-lines.ts'
import { watchRobots } from './watch-robots.ts'
import { emptyView, reduceWatchView, watchScreen } from './watch-screen.ts'

export const commands = { watch: declareWatch }

/** Declares `wheelhouse watch`: shows a session or robots live. */
function declareWatch(command: Command, action: CreateAction): void {
  command
    .argument('[session]', 'its id, or a prefix of the id (default: your only open session)')
    .option('--robots', 'show the board of your robots instead')
    .option('--lines', 'print line by line, also on a terminal')
    .option('--after <seq>', 'only log entries after this number', integer(0, Number.MAX_SAFE_INTEGER), 0)
    .option('--telemetry <rate>', 'largest number of printed samples per second; 0 for none', rate, 1)
    .action(action(watch))
}

function rate(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 100)) {
    throw new InvalidArgumentError('Enter a number from 0 to 100.')
  }
  return value
}

interface WatchOptions {
  readonly robots?: true
  readonly lines?: true
  readonly after: number
  readonly telemetry: number
}

/** Watches a session until it is over, or with `--robots` the robots, until the user quits. */
async function watch(cli: Context, idOrPrefix: string | undefined, options: WatchOptions): Promise<void> {
  if (options.robots) {
    if (idOrPrefix !== undefined) throw new Failure('usage', 'Use either a session or --robots, not both')
    return watchRobots(cli, options)
  }
  const sessionId = await resolveSessionId(cli, idOrPrefix)
  if (canDraw(cli) && !options.lines) await onScreen(cli, sessionId, options)
  else await inLines(cli, sessionId, options)
  // After an orderly end by Ctrl-C, the exit code is still that of an interruption.
  cli.signal.throwIfAborted()
}

async function inLines(cli: Context, sessionId: string, options: WatchOptions): Promise<void> {
  const onEvent = watchLines(cli.out, { samplesPerSecond: options.telemetry })
  await runUntilAborted(cli, new SessionWatch({ ...createWatchOptions(cli, sessionId, options), onEvent }))
}

async function onScreen(cli: Context, sessionId: string, options: WatchOptions): Promise<void> {
  let view = emptyView(sessionId)
  const keys = new WatchKeys()
  const note = (text: string) => {
    view = { ...view, note: text }
    screen.changed()
  }
  const watch = new SessionWatch({
    ...createWatchOptions(cli, sessionId, options),
    onEvent: (event) => {
      view = reduceWatchView(view, event, performance.now())
      screen.changed()
    },
  })
  const chat = (text: string) => {
    note('sending …')
    watch.chat(text).then(
      () => note(''),
      (cause: Error) => note(`not sent: ${cause.message}`),
    )
  }
  const screen = openLiveScreen(cli, ({ rows }) =>
    watchScreen(view, { nowMs: performance.now(), input: keys.input, rows }),
  )
  const closeKeys = openKeys(cli.terminal, {
    typed: (text) => {
      for (const command of keys.typed(text)) {
        if (command.action === 'stop') watch.stop()
        else if (command.action === 'chat') chat(command.text)
        else void watch.close()
      }
      if (keys.input) watch.typing()
      screen.changed()
    },
    ended: () => void watch.close(),
  })
  try {
    await runUntilAborted(cli, watch)
  } finally {
    closeKeys()
    screen.close()
  }
  if (view.stopRequest !== 'pressed') return cli.out.note(`${view.note || 'you quit'}: session ${sessionId}`)
  // The user must not believe that the robot is halted.
  cli.out.notice(
    `The stop is not confirmed: the robot may move. Stop it again with: wheelhouse stop ${sessionId}`,
  )
  process.exitCode = EXIT.unreachable
}

const createWatchOptions = (cli: Context, sessionId: string, { after }: WatchOptions) => ({
  baseUrl: cli.server,
  token: () => cli.token(),
  sessionId,
  after,
  hub: cli.hub,
})

async function runUntilAborted(cli: Context, watch: SessionWatch): Promise<void> {
  cli.identity.required()
  const leave = () => void watch.close()
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    cli.signal.throwIfAborted()
    await watch.run()
  } finally {
    cli.signal.removeEventListener('abort', leave)
  }
}

type WatchAction = { readonly action: 'stop' | 'quit' } | { readonly action: 'chat'; readonly text: string }

const ESCAPE = '\u001b'
const CTRL_D = '\u0004'
/** An escape sequence (arrow and function keys), a single Escape, or any one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal sends escape sequences for such keys
const strokes = /\u001b[[O][0-9;]*[A-Za-z~]|[\s\S]/gu
const ACTIONS: Readonly<Record<string, 'stop' | 'quit'>> = {
  s: 'stop',
  S: 'stop',
  ' ': 'stop',
  q: 'quit',
  Q: 'quit',
  [CTRL_D]: 'quit',
}

/** Handles typed text during a watch: single keys, or a line of chat after `c`. */
class WatchKeys {
  #input: string | null = null

  /** The line of chat in progress; null in key mode. */
  get input(): string | null {
    return this.#input
  }

  /** Handles typed text. @returns the actions in it, in order */
  typed(text: string): WatchAction[] {
    return (text.match(strokes) ?? []).flatMap((stroke) =>
      this.#input === null ? this.#key(stroke) : this.#write(stroke, this.#input),
    )
  }

  #key(stroke: string): WatchAction[] {
    if (stroke === 'c' || stroke === 'C') this.#input = ''
    const action = ACTIONS[stroke]
    return action ? [{ action }] : []
  }

  #write(stroke: string, line: string): WatchAction[] {
    if (stroke === '\r' || stroke === '\n') {
      this.#input = null
      return line.trim() === '' ? [] : [{ action: 'chat', text: line }]
    }
    if (stroke === ESCAPE) this.#input = null
    else if (stroke === '\u007f' || stroke === '\b') this.#input = Array.from(line).slice(0, -1).join('')
    else if (!/\p{Cc}/u.test(stroke) && line.length + stroke.length <= CHAT_BODY_MAX)
      this.#input = line + stroke
    return []
  }
}
