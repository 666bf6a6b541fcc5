import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Clears an emergency stop; resuming is a second, separate act. */
export async function run(cli: Context, session: string): Promise<void> {
  await actOnSession(cli, session, 'clear_stop')
}
