import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { exportId } from './lookup.ts'
import { showExport } from './view.ts'

/** Prints one exported dataset. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const params = { path: { id: await exportId(cli, idOrName) } }
  const found = await answerOf(cli.rest.GET('/api/client/datasets/exports/{id}', { params }))
  cli.out.result(found, () => showExport(cli.out, cli.server, found))
}
