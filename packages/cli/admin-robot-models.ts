import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { given, readSchema } from './lib/options.ts'
import type { Output } from './lib/output.ts'

const MODEL = 'the id of the model, such as so-101'

export function declareRobotModels(admin: Command, action: CreateAction): void {
  const models = admin.command('robot-models').description('supported robot models and their schemas')
  const model = (name: string, description: string) =>
    models.command(name).description(description).argument('<model>', MODEL)
  models.command('list', { isDefault: true }).description('list the models by name').action(action(list))
  model('show', 'show a model and the fields of its schemas; with --json the schemas').action(action(show))
  model('update', 'declare the commands and the telemetry of the robots of a model')
    .option('--control-schema <file>', 'JSON file with the commands that they accept; "" for none')
    .option('--telemetry-schema <file>', 'JSON file with the telemetry that they send; "" for none')
    .action(action(update))
}

/** Prints the supported robot models. */
async function list(cli: Context): Promise<void> {
  const { models } = await answerOf(cli.rest.GET('/api/robots'))
  cli.out.list(
    models,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'MANUFACTURER', value: ({ manufacturer }) => manufacturer },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
    ],
    'No models.',
  )
}

/** Prints a robot model and its schemas. */
async function show(cli: Context, id: string): Promise<void> {
  const model = await answerOf(cli.rest.GET('/api/robots/{id}', { params: { path: { id } } }))
  cli.out.result(model, () => showModel(cli.out, model))
}

interface UpdateOptions {
  /** A file, or an empty text. */
  readonly controlSchema?: string
  /** A file, or an empty text. */
  readonly telemetrySchema?: string
}

/** Declares the commands and the telemetry of a robot model. */
async function update(cli: Context, id: string, options: UpdateOptions): Promise<void> {
  const { controlSchema: control, telemetrySchema: telemetry } = options
  const body = given({
    control_schema: await readSchema(control, 'control schema'),
    telemetry_schema: await readSchema(telemetry, 'telemetry schema'),
  })
  if (Object.keys(body).length === 0)
    throw new Failure('usage', 'Set at least one option. See: wheelhouse admin robot-models update --help')
  const params = { path: { id } }
  const model = await answerOf(cli.rest.PATCH('/api/admin/robot-models/{id}', { params, body }))
  cli.out.result(model, () => showModel(cli.out, model))
}

function showModel(out: Output, model: Schemas['RobotModelDetail']): void {
  out.record([
    ['Id', model.id],
    ['Name', model.name],
    ['Manufacturer', model.manufacturer],
    ['Type', model.robot_type],
    ['Notes', model.notes ?? undefined],
    ['Control schema', fieldsOf(model.control_schema)],
    ['Telemetry schema', fieldsOf(model.telemetry_schema)],
  ])
}

/** Returns the names of the fields that a schema declares. */
const fieldsOf = (schema: Record<string, unknown> | null): string =>
  schema === null ? 'none' : Object.keys(schema.properties ?? {}).join(', ') || 'no fields'
