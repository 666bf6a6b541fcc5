import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { waitingCertification } from './certification.ts'

/** Decides a request that waits. The operator is told. */
export async function run(cli: Context, given: string): Promise<void> {
  const params = { path: { id: await waitingCertification(cli, given) } }
  const decided = await answerOf(cli.rest.POST('/api/admin/certifications/{id}/reject', { params }))
  const { operator_name, robot_type } = decided
  cli.out.result(decided, () => cli.out.line(`${operator_name} is not certified for ${robot_type}.`))
}
