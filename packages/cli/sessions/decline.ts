import type { Context } from '../context.ts'
import { runSessionAction } from './session-action.ts'

/** Declines the extension that the client requests. */
export async function run(cli: Context, session: string): Promise<void> {
  await runSessionAction(cli, session, 'decline_extension')
}
