import { z } from 'zod'
import {
  ControlSchemaInput,
  controlSchemaExamples,
  StoredControlSchema,
  StoredTelemetrySchema,
  TelemetrySchemaInput,
  telemetrySchemaExamples,
} from './declared-schema-fields.ts'

export const RobotCategory = z
  .enum(['arm', 'bimanual', 'mobile_manipulator', 'mobile_base', 'quadruped', 'humanoid'])
  .meta({ id: 'RobotCategory', examples: ['arm'] })

export const ControlMode = z
  .enum([
    'joint_position',
    'joint_velocity',
    'cartesian_pose',
    'cartesian_velocity',
    'base_velocity',
    'gripper',
  ])
  .meta({ id: 'ControlMode', description: 'How a robot interprets the commands of an operator.' })

/** A model's id is a slug, e.g. `so-101`. */
export const ModelParams = z.strictObject({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must consist of lowercase letters, digits and single hyphens')
    .meta({ examples: ['so-101'] }),
})

export const RobotModelView = z
  .object({
    id: z.string().meta({ examples: ['so-101'] }),
    name: z.string().meta({ examples: ['SO-101'] }),
    manufacturer: z.string().meta({ examples: ['The Robot Studio'] }),
    robot_type: z.string().meta({
      description: 'The type under which robots of this model are registered and operators are certified.',
      examples: ['so-101'],
    }),
    category: RobotCategory,
    degrees_of_freedom: z
      .number()
      .int()
      .meta({
        description:
          'Number of actuated axes without grippers. A mobile base adds one per direction of motion.',
        examples: [5],
      }),
    control_modes: z.array(ControlMode).meta({ examples: [['joint_position', 'gripper']] }),
    notes: z
      .string()
      .nullable()
      .meta({
        examples: ['Open design, made with Hugging Face; six servos: five joints and the gripper.'],
      }),
  })
  .meta({ id: 'RobotModel', description: 'A supported robot model.' })

/** One model with its schemas. */
export const RobotModelDetail = RobotModelView.extend({
  control_schema: StoredControlSchema.nullable().meta({
    description: 'The commands that robots of this model accept; null while none is declared.',
    examples: controlSchemaExamples,
  }),
  telemetry_schema: StoredTelemetrySchema.nullable().meta({
    description: 'The telemetry that robots of this model send; null while none is declared.',
    examples: telemetrySchemaExamples,
  }),
}).meta({ id: 'RobotModelDetail', description: 'A supported robot model with its schemas.' })

/** Body of PATCH /api/admin/robot-models/{id}. */
export const UpdateRobotModel = z
  .strictObject({
    control_schema: ControlSchemaInput.nullable().meta({
      description: 'The commands that robots of this model accept; null removes the declaration.',
      examples: controlSchemaExamples,
    }),
    telemetry_schema: TelemetrySchemaInput.nullable().meta({
      description: 'The telemetry that robots of this model send; null removes the declaration.',
      examples: telemetrySchemaExamples,
    }),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateRobotModel = z.infer<typeof UpdateRobotModel>

/** Response of GET /api/robots. */
export const RobotModelList = z.object({ models: z.array(RobotModelView) })
