import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Gives the time that the client asks for. */
export async function run(cli: Context, session: string): Promise<void> {
  await actOnSession(cli, session, 'approve_extension')
}
