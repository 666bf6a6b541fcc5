import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { exportId } from './lookup.ts'

/** Cancels an export, or deletes the exported dataset. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const params = { path: { id: await exportId(cli, idOrName) } }
  const { id, name, version } = await answerOf(cli.rest.GET('/api/client/datasets/exports/{id}', { params }))
  await cli.prompts.confirm(`Delete version ${version} of ${name} and its files? That cannot be undone.`)
  await answerOf(cli.rest.DELETE('/api/client/datasets/exports/{id}', { params }))
  cli.out.result({ id, deleted: true }, () => cli.out.line(`Version ${version} of ${name} is deleted.`))
}
