import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { isWhole, theOne } from '../ids.ts'

/** The id of a request that waits for a decision, given by its id or the beginning of that. */
export async function waitingCertification(cli: Context, given: string): Promise<string> {
  if (isWhole(given)) return given.toLowerCase()
  const query = { status: 'PENDING' as const }
  const { certifications } = await answerOf(cli.rest.GET('/api/admin/certifications', { params: { query } }))
  return theOne(certifications, given, 'waiting request', 'admin certifications list').id
}
