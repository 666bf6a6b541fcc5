import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Cancels a scheduled session. */
export async function run(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await cli.prompts.confirm(`Cancel session ${session}? That cannot be undone.`)
  await runSessionAction(cli, session, 'cancel', reason)
}
