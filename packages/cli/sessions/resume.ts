import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Resumes a paused session. */
export async function run(cli: Context, session: string): Promise<void> {
  await runSessionAction(cli, session, 'resume')
}
