import { RecordingMode } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { AvailableRobot, RobotModelView, StoredControlSchema } from '../robots/index.ts'
import { CertificationStatus } from './certification.schema.ts'

const limitMs = z.number().int()

/** Response of GET /api/operator/robots/{id}. */
export const PreFlight = AvailableRobot.pick({
  id: true,
  name: true,
  robot_type: true,
  status: true,
  tags: true,
  last_heartbeat: true,
  owner_name: true,
  earnings_cents_per_minute: true,
  gateway_url: true,
})
  .extend({
    model: RobotModelView.nullable().meta({
      description: 'The supported model of this type; null for a type that the platform does not know.',
    }),
    certification: z
      .object({
        required: z.boolean(),
        status: CertificationStatus.nullable().meta({
          description: 'The newest of your certifications for this type; null without one.',
          examples: ['APPROVED'],
        }),
      })
      .meta({ description: 'Whether you need a certification, and yours.' }),
    may_drive: z.boolean().meta({
      description:
        'Whether your certifications allow you to drive the robot. If not, battery, notes and gateway are null.',
      examples: [true],
    }),
    on_hold: z.boolean().meta({ description: 'Whether the robot rejects new sessions.', examples: [false] }),
    battery: z
      .number()
      .nullable()
      .meta({
        description: 'Last reported charge, 0 to 1; null until the robot reports it.',
        examples: [0.83],
      }),
    battery_at: timestamp.nullable().meta({ description: 'When the robot reported the charge.' }),
    operator_notes: z
      .string()
      .nullable()
      .meta({ description: 'Notes of the owner.', examples: ['Keep away from the shelf on the left.'] }),
    recording: RecordingMode.meta({
      description:
        'The content of the recording of a session: nothing, control and telemetry, or these with the cameras.',
      examples: ['control'],
    }),
    has_camera: z.boolean().meta({
      description: 'Whether the robot has a camera. Its address is part of a session.',
      examples: [true],
    }),
    owner_rating_average: z
      .number()
      .nullable()
      .meta({
        description: 'Mean of the ratings that the owner gave to operators; null without ratings.',
        examples: [4.6],
      }),
    owner_rating_count: z
      .number()
      .int()
      .meta({ examples: [12] }),
    latency_limit_ms: limitMs.meta({
      description: 'The robot does not move while commands take longer.',
      examples: [400],
    }),
    latency_budget_ms: limitMs.nullable().meta({
      description: 'The robot moves more slowly while commands take longer; null: no limit of the speed.',
      examples: [200],
    }),
    video_limit_ms: limitMs.nullable().meta({
      description: 'The robot does not move while your picture is older; null: no limit.',
      examples: [700],
    }),
    control_schema: StoredControlSchema.nullable().meta({
      description:
        'The commands that the robot accepts, its own or those of its model; null while none are declared.',
    }),
  })
  .meta({ id: 'PreFlight', description: 'A robot as an operator sees it before a session.' })
export type PreFlight = z.infer<typeof PreFlight>
