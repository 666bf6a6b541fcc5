import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime, statusPiece } from '../views.ts'

/** Prints the requests for certification. */
export async function run(
  cli: Context,
  { status }: { status: Schemas['CertificationStatus'] },
): Promise<void> {
  const params = { query: { status } }
  const { certifications } = await answerOf(cli.rest.GET('/api/admin/certifications', { params }))
  cli.out.list(
    certifications,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'OPERATOR', value: ({ operator_name }) => operator_name },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
      { title: 'STATUS', value: (row) => statusPiece(row.status) },
      { title: 'REQUESTED', value: ({ requested_at }) => formatTime(requested_at) },
      { title: 'NOTE', value: ({ note }) => note },
      { title: 'REASON', value: ({ reason }) => reason },
    ],
    'No matching requests.',
  )
}
