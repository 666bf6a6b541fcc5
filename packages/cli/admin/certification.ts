import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { isWhole, theOne } from '../ids.ts'

/** The id of a request in a status, given by its id or the beginning of that. */
export async function certificationId(
  cli: Context,
  given: string,
  status: 'PENDING' | 'APPROVED',
): Promise<string> {
  if (isWhole(given)) return given.toLowerCase()
  const params = { query: { status } }
  const { certifications } = await answerOf(cli.rest.GET('/api/admin/certifications', { params }))
  const list = `admin certifications list --status ${status}`
  return theOne(certifications, given, status === 'PENDING' ? 'waiting request' : 'certification', list).id
}
