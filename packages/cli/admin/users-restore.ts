import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Ends the suspension of a user. */
export async function run(cli: Context, id: string): Promise<void> {
  await answerOf(cli.rest.POST('/api/admin/users/{id}/restore', { params: { path: { id } } }))
  cli.out.result({ id }, () => cli.out.line(`${id} is no longer suspended.`))
}
