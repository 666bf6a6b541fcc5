import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { certificationId } from './certification.ts'

/** Rejects a pending request. The platform shows the reason to the operator. */
export async function run(cli: Context, idOrPrefix: string, { reason }: { reason: string }): Promise<void> {
  const params = { path: { id: await certificationId(cli, idOrPrefix, 'PENDING') } }
  const decided = await answerOf(
    cli.rest.POST('/api/admin/certifications/{id}/reject', { params, body: { reason } }),
  )
  const { operator_name, robot_type } = decided
  cli.out.result(decided, () => cli.out.line(`${operator_name} is not certified for ${robot_type}.`))
}
