import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Clears the stop in force; resuming is a second, separate action. */
export async function run(cli: Context, session: string): Promise<void> {
  await runSessionAction(cli, session, 'clear_stop')
}
