import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Cancels a planned session. */
export async function run(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await cli.prompts.confirm(`Cancel session ${session}? It cannot be planned again.`)
  await runSessionAction(cli, session, 'cancel', reason)
}
