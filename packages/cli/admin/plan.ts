import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Sets the pricing plan of a client. */
export async function run(cli: Context, client: string, plan: string | undefined): Promise<void> {
  const params = { path: { id: client } }
  const updated = await answerOf(
    cli.rest.POST('/api/admin/clients/{id}/plan', { params, body: { plan: plan ?? null } }),
  )
  cli.out.result(updated, () =>
    cli.out.line(`${updated.client_id} is on ${updated.plan ?? 'the default plan'}.`),
  )
}
