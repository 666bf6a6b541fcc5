import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Cancels a planned session. */
export async function run(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await cli.ask.sure(`Cancel session ${session}? It cannot be planned again.`)
  await actOnSession(cli, session, 'cancel', reason)
}
