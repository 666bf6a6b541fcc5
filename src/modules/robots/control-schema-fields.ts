import { ControlSchema } from '@wheelhouse/protocol'
import { z } from 'zod'
import { parseOptions } from '../../core/http/validation-messages.ts'

const meta = {
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

/** A control schema, for examples. */
export const controlSchemaExamples = meta.examples

/** A control schema in a response. */
export const StoredControlSchema = z.record(z.string(), z.unknown()).meta(meta)

/** A control schema in a request. Its error names the place of the first problem. */
export const ControlSchemaInput = z
  .record(z.string(), z.unknown())
  .superRefine((value, context) => {
    const { error } = ControlSchema.safeParse(value, parseOptions)
    for (const { message, path } of error?.issues ?? []) context.addIssue({ code: 'custom', message, path })
  })
  .meta(meta)
