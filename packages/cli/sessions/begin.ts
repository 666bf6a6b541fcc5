import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Starts a planned session before its time. */
export async function run(cli: Context, session: string): Promise<void> {
  await actOnSession(cli, session, 'start')
}
