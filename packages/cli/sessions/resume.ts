import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Goes on with a paused session. */
export async function run(cli: Context, session: string): Promise<void> {
  await actOnSession(cli, session, 'resume')
}
