import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Pauses a session; the robot stops. */
export async function run(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await actOnSession(cli, session, 'pause', reason)
}
