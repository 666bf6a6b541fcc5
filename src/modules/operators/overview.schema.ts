import { idOf, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'

/** Most scheduled sessions of an overview. */
export const PLANNED_MAX = 5

const robotFields = {
  robot_id: idOf('robot'),
  robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
  robot_type: z.string().meta({ examples: ['so-101'] }),
}

const OwnOpenSession = z
  .object({
    id: idOf('session'),
    status: SessionStatus,
    started_at: timestamp,
    ...robotFields,
    stopped: z.boolean().meta({ description: 'Whether a remote stop is latched.' }),
    robot_connected: z.boolean(),
  })
  .meta({ id: 'OwnOpenSession', description: 'The open session of an operator.' })

const PlannedSession = z
  .object({
    id: idOf('session'),
    ...robotFields,
    scheduled_for: timestamp,
    planned_minutes: z
      .number()
      .int()
      .meta({ examples: [60] }),
  })
  .meta({ id: 'PlannedSession', description: 'A scheduled session of an operator.' })

/** Response of GET /api/operator/overview. */
export const OperatorOverview = z
  .object({
    open_session: OwnOpenSession.nullable(),
    planned: z
      .array(PlannedSession)
      .meta({ description: `At most ${PLANNED_MAX} scheduled sessions, earliest first.` }),
  })
  .meta({ id: 'OperatorOverview', description: 'The open session and the next sessions of an operator.' })
export type OperatorOverview = z.infer<typeof OperatorOverview>
