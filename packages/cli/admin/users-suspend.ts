import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Suspends a user. The platform shows the reason to the user. */
export async function run(cli: Context, id: string, { reason }: { reason: string }): Promise<void> {
  const params = { path: { id } }
  await answerOf(cli.rest.POST('/api/admin/users/{id}/suspend', { params, body: { reason } }))
  cli.out.result({ id, reason }, () => cli.out.line(`${id} is suspended.`))
}
