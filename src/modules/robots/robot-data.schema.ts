import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'

/** The kinds of data that the platform collects about a robot. */
const ROBOT_DATA_KINDS = [
  'telemetry',
  'control',
  'video',
  'log',
  'health',
  'sessions',
  'recordings',
  'episodes',
  'audit',
] as const

const RobotDataEntry = z
  .object({
    kind: z.enum(ROBOT_DATA_KINDS).meta({ examples: ['log'] }),
    contents: z.string().meta({ examples: ['Lines that the program of the robot writes'] }),
    rate: z.string().meta({
      description: 'How often it is collected: measured where the platform can, otherwise as declared.',
      examples: ['1,204 lines in the last 24 hours'],
    }),
    format: z.string().meta({ examples: ['JSON'] }),
    retention: z.string().meta({ examples: ['7 days'] }),
    location: z.string().meta({ examples: ['the database of the platform'] }),
    visible_to: z.string().meta({ examples: ['members who may see the robot'] }),
    access: z.array(z.string()).meta({
      description: 'The requests and connections with which you get it.',
      examples: [['GET /api/client/robots/0b8f4c1e-6a57-4f0e-9a3d-2c5e7d9b1f42/logs']],
    }),
  })
  .meta({ id: 'RobotDataEntry', description: 'One kind of data that is collected about a robot.' })

/** Response of GET /api/client/robots/{id}/data. */
export const RobotData = z
  .object({ robot_id: idOf('robot'), at: timestamp, data: z.array(RobotDataEntry) })
  .meta({ id: 'RobotData', description: 'The catalogue of the data that is collected about a robot.' })
export type RobotData = z.infer<typeof RobotData>
