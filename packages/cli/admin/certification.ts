import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { findUnique, isFullId } from '../ids.ts'

/** Returns the id of a certification in a status, from its id or a prefix of the id. */
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
    status === 'PENDING' ? 'pending request' : 'certification',
    list,
  ).id
}
