import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { exportColumns } from './view.ts'

/** Prints the caller's exported datasets. */
export async function run(cli: Context): Promise<void> {
  const { exports: found } = await answerOf(cli.rest.GET('/api/client/datasets/exports'))
  cli.out.list(found, exportColumns, 'No exports. Start one with: wheelhouse datasets export')
}
