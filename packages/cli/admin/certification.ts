import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { findUnique, isFullId } from '../ids.ts'

/** The id of a request in a status, given by its id or the beginning of that. */
export async function certificationId(
  cli: Context,
  idOrPrefix: string,
  status: 'PENDING' | 'APPROVED',
): Promise<string> {
  if (isFullId(idOrPrefix)) return idOrPrefix.toLowerCase()
  const params = { query: { status } }
  const { certifications } = await answerOf(cli.rest.GET('/api/admin/certifications', { params }))
  const list = `admin certifications list --status ${status}`
  return findUnique(
    certifications,
    idOrPrefix,
    status === 'PENDING' ? 'waiting request' : 'certification',
    list,
  ).id
}
