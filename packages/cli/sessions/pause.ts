import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Pauses a session; the robot stops. */
export async function run(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await runSessionAction(cli, session, 'pause', reason)
}
