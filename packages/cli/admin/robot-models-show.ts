import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { showModel } from './robot-model-view.ts'

/** Prints a robot model and its schemas. */
export async function run(cli: Context, id: string): Promise<void> {
  const model = await answerOf(cli.rest.GET('/api/robots/{id}', { params: { path: { id } } }))
  cli.out.result(model, () => showModel(cli.out, model))
}
