import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { sessionId } from '../ids.ts'
import { showSession } from './view.ts'

/** Prints one session with its details. */
export async function run(cli: Context, idOrPrefix: string): Promise<void> {
  const id = await sessionId(cli, idOrPrefix)
  const session = await answerOf(cli.rest.GET('/api/sessions/{id}', { params: { path: { id } } }))
  cli.out.result(session, () => showSession(cli.out, session))
}
