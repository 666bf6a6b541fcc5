import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Starts a scheduled session. */
export async function run(cli: Context, session: string): Promise<void> {
  await runSessionAction(cli, session, 'start')
}
