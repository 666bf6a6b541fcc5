import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { sessionId } from '../ids.ts'
import { showSession } from './view.ts'

/** Performs an action on a session and prints the session. */
export async function runSessionAction(
  cli: Context,
  idOrPrefix: string,
  action: Schemas['SessionAction'],
  reason?: string,
): Promise<void> {
  const params = { path: { id: await sessionId(cli, idOrPrefix) } }
  const body = { action, ...(reason !== undefined && { reason }) }
  const session = await answerOf(cli.rest.PATCH('/api/sessions/{id}', { params, body }))
  cli.out.result(session, () => showSession(cli.out, session))
}
