import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { openKeys } from '../screen/keys.ts'
import { canDraw, openLiveScreen } from '../screen/live-screen.ts'
import { type Desk, openDesk } from './drive-desk.ts'
import { screen as driveScreen } from './drive-screen.ts'
import { setUp } from './drive-setup.ts'
import { DriverSeat } from './driver-seat.ts'

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
    process.exitCode = EXIT.refused
  }
}

async function drive(cli: Context, sessionId: string, desk: Desk): Promise<string> {
  const seat = new DriverSeat(cli, { sessionId, desk, onChange: () => screen?.changed() })
  const screen = canDraw(cli)
    ? openLiveScreen(cli, () => driveScreen(seat.view, sessionId, performance.now()).map((line) => [line]))
    : undefined
  const closeKeys = openKeys(cli.terminal, {
    typed: (text) => seat.typed(text),
    ended: () => seat.leave('end of input'),
  })
  const leave = () => seat.leave('interrupted')
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    if (cli.signal.aborted) leave()
    return await seat.run()
  } finally {
    cli.signal.removeEventListener('abort', leave)
    closeKeys()
    screen?.close()
  }
}
