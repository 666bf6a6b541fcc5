import { OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { openKeys } from '../screen/keys.ts'
import { canDraw, openLiveScreen } from '../screen/live-screen.ts'
import { type Desk, openDesk } from './drive-desk.ts'
import { type DriveAct, DriveKeys } from './drive-keys.ts'
import { type DriveView, screen as driveScreen, emptyDriveView } from './drive-screen.ts'
import { setUp } from './drive-setup.ts'

const COMMANDS_PER_SECOND = 20

/** Takes a robot, drives it until the user quits or the link ends, and gives it back. */
export async function run(cli: Context, given: string | undefined): Promise<void> {
  const { sessionId, startedHere } = await setUp(cli, given)
  const { out } = cli
  if (out.json) out.entry({ type: 'session', session_id: sessionId, started_here: startedHere })
  else out.line(`session ${sessionId}`)
  const desk = await openDesk(cli, sessionId)
  let why = ''
  try {
    why = await drive(cli, sessionId, desk)
  } finally {
    desk.close()
    if (startedHere) await giveBack(cli, desk, sessionId)
  }
  cli.signal.throwIfAborted()
  if (out.json) out.entry({ type: 'end', reason: why })
  else out.line(why)
}

/** Whoever started the session ends it, however they leave. */
async function giveBack({ out }: Context, desk: Desk, sessionId: string): Promise<void> {
  try {
    await desk.act('end')
  } catch (cause) {
    // Over already, by somebody else or because the robot was lost.
    if ((await desk.status().catch(() => undefined)) === 'COMPLETED') return
    const next = `End it with: wheelhouse sessions end ${sessionId}`
    out.tell(`The robot stands, but the session is still open (${(cause as Error).message}). ${next}`)
    process.exitCode = 1
  }
}

async function drive(cli: Context, sessionId: string, desk: Desk): Promise<string> {
  const ended = Promise.withResolvers<string>()
  const keys = new DriveKeys()
  let view: DriveView = emptyDriveView
  const change = (part: Partial<DriveView>) => {
    view = { ...view, ...part }
    screen?.changed()
  }
  const note = (text: string) => change({ note: text })
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl: cli.server, token: () => cli.token(), sessionId, part: 'control' }),
    onConnection: (connection) => change({ connection }),
    onState: (state) => change({ state }),
    onLatency: (latency) => change({ latency }),
    onTelemetry: (telemetry) => change({ telemetry, telemetryAtMs: performance.now() }),
    onAck: () => change({ obeyed: view.obeyed + 1 }),
    onDropped: (_seq, why) => change({ dropped: view.dropped + 1, lastDrop: why }),
    onError: (cause) => note(cause instanceof Error ? cause.message : String(cause)),
    onClosed: ({ reason }) => ended.resolve(reason),
  })
  const told = (doing: Promise<unknown>, done: string) =>
    void doing.then(
      () => note(done),
      (cause: Error) => note(cause.message),
    )
  const does: Record<DriveAct, () => void> = {
    stand: () => {},
    stop: () => told(link.stop('stopped at the keyboard'), 'the stop is recorded'),
    clear: () => told(desk.act('clear_stop'), 'clear_stop: done'),
    resume: () => told(desk.act('resume'), 'resume: done'),
    quit: () => ended.resolve('you quit'),
  }
  const screen = canDraw(cli)
    ? openLiveScreen(cli, () => driveScreen(view, performance.now()).map((line) => [line]))
    : undefined
  const closeKeys = openKeys(cli.terminal, {
    typed: (text) => {
      for (const asked of keys.typed(text, performance.now())) does[asked]()
    },
    ended: () => ended.resolve('end of input'),
  })
  const steer = () => {
    const command = keys.command(performance.now())
    change({ command })
    if (view.state?.status !== 'ACTIVE' || view.state.stop?.latched) return
    if (link.control(command) !== null) change({ sent: view.sent + 1 })
  }
  const timer = setInterval(steer, 1_000 / COMMANDS_PER_SECOND)
  const leave = () => ended.resolve('interrupted')
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    if (cli.signal.aborted) leave()
    link.connect().catch(() => {}) // onClosed tells
    return await ended.promise
  } finally {
    clearInterval(timer)
    cli.signal.removeEventListener('abort', leave)
    // The robot is told to stand, and that nobody drives it any more.
    if (view.state?.status === 'ACTIVE') link.control({ linear_mps: 0, angular_radps: 0 })
    await link.close()
    closeKeys()
    screen?.close()
  }
}
