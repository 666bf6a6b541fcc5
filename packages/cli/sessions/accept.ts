import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Gives the time that the client asks for. */
export async function run(cli: Context, session: string): Promise<void> {
  await runSessionAction(cli, session, 'approve_extension')
}
