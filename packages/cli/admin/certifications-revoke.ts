import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { certificationId } from './certification.ts'

/** Revokes an approved certification. The platform shows the reason to the operator. */
export async function run(cli: Context, idOrPrefix: string, { reason }: { reason: string }): Promise<void> {
  const params = { path: { id: await certificationId(cli, idOrPrefix, 'APPROVED') } }
  const revoked = await answerOf(
    cli.rest.POST('/api/admin/certifications/{id}/revoke', { params, body: { reason } }),
  )
  const { operator_name, robot_type } = revoked
  cli.out.result(revoked, () => cli.out.line(`${operator_name} is no longer certified for ${robot_type}.`))
}
