import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Asks the owner, or the admin who stopped the robot, to clear the stop. */
export async function run(cli: Context, session: string, options: { reason?: string }): Promise<void> {
  await runSessionAction(cli, session, 'request_clear_stop', options.reason)
}
