import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Ends a session, which fixes its price. */
export async function run(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await cli.prompts.confirm(`End session ${session}? It cannot be resumed.`)
  await runSessionAction(cli, session, 'end', reason)
}
