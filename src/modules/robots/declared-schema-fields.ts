import { ControlSchema, TelemetrySchema } from '@wheelhouse/protocol'
import { z } from 'zod'
import { parseOptions } from '../../core/http/validation-messages.ts'

interface Meta {
  readonly description: string
  readonly examples: readonly Record<string, unknown>[]
}

const control: Meta = {
  description:
    'The commands that the robot accepts, as a JSON Schema 2020-12 of an object with x-unit and x-speed. The protocol ' +
    'describes the subset.',
  examples: [
    {
      type: 'object',
      properties: {
        linear_mps: { type: 'number', minimum: -1, maximum: 1, 'x-unit': 'm/s', 'x-speed': true },
        angular_radps: { type: 'number', minimum: -1.5, maximum: 1.5, 'x-unit': 'rad/s', 'x-speed': true },
      },
    },
  ],
}
const telemetry: Meta = {
  description:
    'The telemetry that the robot sends, as a JSON Schema 2020-12 of an object with x-unit and x-kind. The protocol ' +
    'describes the subset.',
  examples: [
    {
      type: 'object',
      properties: {
        pose: {
          type: 'object',
          'x-kind': 'pose',
          properties: {
            x_m: { type: 'number', 'x-unit': 'm' },
            y_m: { type: 'number', 'x-unit': 'm' },
            heading_rad: { type: 'number', 'x-unit': 'rad' },
          },
        },
        battery: { type: 'number', minimum: 0, maximum: 1, 'x-kind': 'battery' },
      },
    },
  ],
}

/** Returns the schema of a declared schema in a response. */
const stored = (meta: Meta) =>
  z.record(z.string(), z.unknown()).meta({ ...meta, examples: [...meta.examples] })

/** Returns the schema of a declared schema in a request. Its error names the place of the first problem. */
const input = (schema: z.ZodType, meta: Meta) =>
  z
    .record(z.string(), z.unknown())
    .superRefine((value, context) => {
      const { error } = schema.safeParse(value, parseOptions)
      for (const { message, path } of error?.issues ?? []) context.addIssue({ code: 'custom', message, path })
    })
    .meta({ ...meta, examples: [...meta.examples] })

/** A control schema, for examples. */
export const controlSchemaExamples = [...control.examples]
/** A telemetry schema, for examples. */
export const telemetrySchemaExamples = [...telemetry.examples]

/** A control schema in a response. */
export const StoredControlSchema = stored(control)
/** A telemetry schema in a response. */
export const StoredTelemetrySchema = stored(telemetry)

/** A control schema in a request. */
export const ControlSchemaInput = input(ControlSchema, control)
/** A telemetry schema in a request. */
export const TelemetrySchemaInput = input(TelemetrySchema, telemetry)
