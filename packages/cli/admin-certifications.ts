import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { idOf } from './lib/ids.ts'
import { choice } from './lib/options.ts'
import { formatTime, statusPiece } from './lib/views.ts'

const REQUEST = 'the id of the request, or a prefix of it'
const STATUSES = ['PENDING', 'APPROVED', 'REJECTED', 'REVOKED']
const REASON = 'the reason, which the operator can read'

export function declareCertifications(admin: Command, action: CreateAction): void {
  const certifications = admin.command('certifications').description('certifications of operators')
  const request = (name: string, description: string) =>
    certifications.command(name).description(description).argument('<certification>', REQUEST)
  certifications
    .command('list')
    .description('list requests, oldest first')
    .addOption(choice('--status <status>', 'only requests with this status', STATUSES, 'PENDING'))
    .action(action(list))
  request('approve', 'certify an operator for a type of robot').action(action(approve))
  request('reject', 'reject a request').requiredOption('--reason <text>', REASON).action(action(reject))
  request('revoke', 'revoke a certification; open sessions continue, and the operator cannot start new ones')
    .requiredOption('--reason <text>', REASON)
    .action(action(revoke))
}

/** Prints the requests for certification. */
async function list(cli: Context, { status }: { status: Schemas['CertificationStatus'] }): Promise<void> {
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

/** Approves a pending request. The platform notifies the operator. */
async function approve(cli: Context, idOrPrefix: string): Promise<void> {
  const params = { path: { id: await certificationId(cli, idOrPrefix, 'PENDING') } }
  const decided = await answerOf(cli.rest.POST('/api/admin/certifications/{id}/approve', { params }))
  const { operator_name, robot_type } = decided
  cli.out.result(decided, () => cli.out.line(`${operator_name} is certified for ${robot_type}.`))
}

/** Rejects a pending request. The platform shows the reason to the operator. */
async function reject(cli: Context, idOrPrefix: string, { reason }: { reason: string }): Promise<void> {
  const params = { path: { id: await certificationId(cli, idOrPrefix, 'PENDING') } }
  const decided = await answerOf(
    cli.rest.POST('/api/admin/certifications/{id}/reject', { params, body: { reason } }),
  )
  const { operator_name, robot_type } = decided
  cli.out.result(decided, () => cli.out.line(`${operator_name} is not certified for ${robot_type}.`))
}

/** Revokes an approved certification. The platform shows the reason to the operator. */
async function revoke(cli: Context, idOrPrefix: string, { reason }: { reason: string }): Promise<void> {
  const params = { path: { id: await certificationId(cli, idOrPrefix, 'APPROVED') } }
  const revoked = await answerOf(
    cli.rest.POST('/api/admin/certifications/{id}/revoke', { params, body: { reason } }),
  )
  const { operator_name, robot_type } = revoked
  cli.out.result(revoked, () => cli.out.line(`${operator_name} is no longer certified for ${robot_type}.`))
}

/** Returns the id of a certification in a status, from its id or a prefix of the id. */
async function certificationId(
  cli: Context,
  idOrPrefix: string,
  status: 'PENDING' | 'APPROVED',
): Promise<string> {
  const kind = status === 'PENDING' ? 'pending request' : 'certification'
  return await idOf(idOrPrefix, kind, `admin certifications list --status ${status}`, async () => {
    const params = { query: { status } }
    return (await answerOf(cli.rest.GET('/api/admin/certifications', { params }))).certifications
  })
}
