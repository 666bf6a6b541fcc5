import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { certificationId } from './certification.ts'

/** Approves a pending request. The platform notifies the operator. */
export async function run(cli: Context, idOrPrefix: string): Promise<void> {
  const params = { path: { id: await certificationId(cli, idOrPrefix, 'PENDING') } }
  const decided = await answerOf(cli.rest.POST('/api/admin/certifications/{id}/approve', { params }))
  const { operator_name, robot_type } = decided
  cli.out.result(decided, () => cli.out.line(`${operator_name} is certified for ${robot_type}.`))
}
