import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { sessionId } from '../ids.ts'

/** Asks the operator for more time. The session's log shows the answer. */
export async function run(cli: Context, idOrPrefix: string, additionalMinutes: number): Promise<void> {
  const params = { path: { id: await sessionId(cli, idOrPrefix) } }
  const body = { additionalMinutes }
  const receipt = await answerOf(cli.rest.POST('/api/sessions/{id}/extend', { params, body }))
  cli.out.result(receipt, () => cli.out.line(receipt.message))
}
