import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Removes a role from a user. */
export async function run(cli: Context, id: string, role: 'client' | 'operator'): Promise<void> {
  await answerOf(cli.rest.DELETE('/api/admin/users/{id}/roles/{role}', { params: { path: { id, role } } }))
  cli.out.result({ id, role }, () =>
    cli.out.line(`${id} no longer has the role ${role} and cannot choose it again.`),
  )
}
