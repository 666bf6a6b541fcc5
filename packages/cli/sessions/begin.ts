import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Starts a planned session before its time. */
export async function run(cli: Context, session: string): Promise<void> {
  await runSessionAction(cli, session, 'start')
}
