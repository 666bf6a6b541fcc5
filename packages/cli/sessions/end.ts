import type { Context } from '../context.ts'
import { actOnSession } from './acting.ts'

/** Ends a session; what it costs is fixed then. */
export async function run(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await cli.ask.sure(`End session ${session}? It cannot be resumed.`)
  await actOnSession(cli, session, 'end', reason)
}
