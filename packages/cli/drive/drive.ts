import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { openKeys } from '../screen/keys.ts'
import { canDraw, openLiveScreen } from '../screen/live-screen.ts'
import { screen as driveScreen } from './drive-screen.ts'
import { openSessionClient, type SessionClient } from './drive-session-client.ts'
import { resolveDriveTarget } from './drive-target.ts'
import { KeyboardOperator } from './keyboard-operator.ts'

/** Drives a robot until the user quits or the link ends, then ends the session if this command has started it. */
export async function run(cli: Context, target: string | undefined): Promise<void> {
  const { sessionId, startedHere } = await resolveDriveTarget(cli, target)
  const { out } = cli
  if (out.json) out.entry({ type: 'session', session_id: sessionId, started_here: startedHere })
  else out.line(`session ${sessionId}`)
  const sessionClient = await openSessionClient(cli, sessionId)
  let why = ''
  try {
    why = await drive(cli, sessionId, sessionClient)
  } finally {
    sessionClient.close()
    if (startedHere) await endStartedSession(cli, sessionClient, sessionId)
  }
  cli.signal.throwIfAborted()
  if (out.json) out.entry({ type: 'end', reason: why })
  else out.line(why)
}

/** Ends the session that this command has started. */
async function endStartedSession(
  { out }: Context,
  sessionClient: SessionClient,
  sessionId: string,
): Promise<void> {
  try {
    await sessionClient.performAction('end')
  } catch (cause) {
    // Another participant has ended it, or the platform has, because the robot was lost.
    if ((await sessionClient.status().catch(() => undefined)) === 'COMPLETED') return
    const next = `End it with: wheelhouse sessions end ${sessionId}`
    out.notice(`The robot is halted, but the session is still open (${(cause as Error).message}). ${next}`)
    process.exitCode = EXIT.refused
  }
}

async function drive(cli: Context, sessionId: string, sessionClient: SessionClient): Promise<string> {
  const operator = new KeyboardOperator(cli, { sessionId, sessionClient, onChange: () => screen?.changed() })
  const screen = canDraw(cli)
    ? openLiveScreen(cli, () =>
        driveScreen(operator.view, sessionId, performance.now()).map((line) => [line]),
      )
    : undefined
  const closeKeys = openKeys(cli.terminal, {
    typed: (text) => operator.typed(text),
    ended: () => operator.leave('end of input'),
  })
  const leave = () => operator.leave('interrupted')
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    if (cli.signal.aborted) leave()
    return await operator.run()
  } finally {
    cli.signal.removeEventListener('abort', leave)
    closeKeys()
    screen?.close()
  }
}
