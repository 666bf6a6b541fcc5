import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { openKeys } from '../screen/keys.ts'
import { canDraw, openLiveScreen } from '../screen/live-screen.ts'
import { resolveSessionId } from './resolve-session.ts'
import { SessionWatch } from './session-watch.ts'
import { WatchKeys } from './watch-keys.ts'
import { watchLines } from './watch-lines.ts'
import { watchScreen } from './watch-screen.ts'
import { emptyView, reduceWatchView } from './watch-view.ts'

export interface WatchOptions {
  readonly robots?: true
  readonly lines?: true
  readonly after: number
  readonly telemetry: number
}

/** Watches a session until it is over, or with `--robots` the robots, until the user quits. */
export async function run(
  cli: Context,
  idOrPrefix: string | undefined,
  options: WatchOptions,
): Promise<void> {
  if (options.robots) {
    if (idOrPrefix !== undefined) throw new Failure('usage', 'Use either a session or --robots, not both')
    const { watchRobots } = await import('./watch-robots.ts')
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
