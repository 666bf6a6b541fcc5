import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Restores a role of a user. */
export async function run(cli: Context, id: string, role: 'client' | 'operator'): Promise<void> {
  await answerOf(cli.rest.POST('/api/admin/users/{id}/roles/{role}', { params: { path: { id, role } } }))
  cli.out.result({ id, role }, () =>
    cli.out.line(`${id} is ${role === 'client' ? 'a client' : 'an operator'} again.`),
  )
}
