import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { readSchema } from '../schema-file.ts'
import { showModel } from './robot-model-view.ts'

interface Options {
  /** A file, or an empty text. */
  readonly controlSchema?: string
  /** A file, or an empty text. */
  readonly telemetrySchema?: string
}

/** Declares the commands and the telemetry of a robot model. */
export async function run(cli: Context, id: string, options: Options): Promise<void> {
  const { controlSchema: control, telemetrySchema: telemetry } = options
  const body = {
    ...(control !== undefined && { control_schema: await readSchema(control, 'control schema') }),
    ...(telemetry !== undefined && { telemetry_schema: await readSchema(telemetry, 'telemetry schema') }),
  }
  if (Object.keys(body).length === 0)
    throw new Failure('usage', 'Set at least one option. See: wheelhouse admin robot-models update --help')
  const params = { path: { id } }
  const model = await answerOf(cli.rest.PATCH('/api/admin/robot-models/{id}', { params, body }))
  cli.out.result(model, () => showModel(cli.out, model))
}
