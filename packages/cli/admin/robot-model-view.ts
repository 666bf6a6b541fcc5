import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'

export function showModel(out: Output, model: Schemas['RobotModelDetail']): void {
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
