import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'

/** How far back the health of a robot is shown, and how long samples are kept. */
export const HEALTH_HOURS = 24
/** The interval of samples. */
export const SAMPLE_MINUTES = 5
/** Most incidents in one response. */
export const INCIDENTS_MAX = 200

const RobotIncident = z
  .object({
    type: z.enum(['session.stopped', 'robot.lost', 'robot.back']).meta({ examples: ['session.stopped'] }),
    at: timestamp,
    session_id: idOf('session').nullable().meta({
      description:
        'Null, as the reason and the name, for a robot of an organization that grants you its health.',
    }),
    reason: z
      .string()
      .nullable()
      .meta({ examples: ['Cat on the shelf'] }),
    actor_name: z
      .string()
      .nullable()
      .meta({ description: 'The user who caused it; null for the platform.', examples: ['Ada'] }),
  })
  .meta({
    id: 'RobotIncident',
    description: 'A remote stop, a lost connection or a return in a session of a robot.',
  })

const HealthSample = z
  .object({
    at: timestamp,
    battery: z
      .number()
      .nullable()
      .meta({
        description: 'Charge, 0 to 1; null when the robot has not reported it lately.',
        examples: [0.62],
      }),
  })
  .meta({
    id: 'HealthSample',
    description: `A time at which the robot was connected. A connected robot has a sample every ${SAMPLE_MINUTES} minutes.`,
  })

/** Response of GET /api/client/robots/{id}/health. */
export const RobotHealth = z
  .object({
    since: timestamp,
    samples: z
      .array(HealthSample)
      .meta({ description: 'Oldest first. A gap is a time without a connection.' }),
    incidents: z.array(RobotIncident).meta({
      description: `Incidents of the last ${HEALTH_HOURS} hours, newest first, at most ${INCIDENTS_MAX}.`,
    }),
  })
  .meta({ id: 'RobotHealth', description: `The health of a robot in the last ${HEALTH_HOURS} hours.` })
export type RobotHealth = z.infer<typeof RobotHealth>
