import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { sessionId } from '../ids.ts'
import { showSession } from './view.ts'

/** Rates a completed session. */
export async function run(
  cli: Context,
  idOrPrefix: string,
  rating: number,
  { comment = null }: { comment?: string | null },
): Promise<void> {
  const params = { path: { id: await sessionId(cli, idOrPrefix) } }
  const body = { rating, comment }
  const session = await answerOf(cli.rest.POST('/api/sessions/{id}/rate', { params, body }))
  cli.out.result(session, () => showSession(cli.out, session))
}
