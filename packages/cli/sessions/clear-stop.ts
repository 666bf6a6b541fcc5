import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Clears the stop in force; resuming is a second, separate action. */
export async function run(cli: Context, session: string): Promise<void> {
  await actOnSession(cli, session, 'clear_stop')
}
