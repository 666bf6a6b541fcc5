import { idOf, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'

/** Most scheduled sessions of an overview. */
export const PLANNED_MAX = 5
/** Most free robots of an overview. */
export const FREE_MAX = 6

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

const FreeRobot = z
  .object({
    id: idOf('robot'),
    name: z.string().meta({ examples: ['Warehouse arm'] }),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    tags: z.array(z.string()).meta({ examples: [['site-a']] }),
    battery: z
      .number()
      .nullable()
      .meta({ description: 'Charge, 0 to 1; null when not reported.', examples: [0.83] }),
    own_sessions: z
      .number()
      .int()
      .meta({ description: 'Your completed sessions on it.', examples: [12] }),
  })
  .meta({ id: 'FreeRobot', description: 'A robot that you can drive now.' })

const EarningsDay = z
  .object({
    day: z.string().meta({ description: 'YYYY-MM-DD, in UTC.', examples: ['2026-11-27'] }),
    earnings_cents: z
      .number()
      .int()
      .meta({ examples: [4_800] }),
    driven_seconds: z
      .number()
      .int()
      .meta({ examples: [9_600] }),
  })
  .meta({ id: 'EarningsDay' })

/** Response of GET /api/operator/overview. */
export const OperatorOverview = z
  .object({
    open_session: OwnOpenSession.nullable(),
    planned: z
      .array(PlannedSession)
      .meta({ description: `At most ${PLANNED_MAX} scheduled sessions, earliest first.` }),
    free: z.array(FreeRobot).meta({
      description: `At most ${FREE_MAX} robots that you can drive now; those that you drove most first.`,
    }),
    week: z
      .array(EarningsDay)
      .meta({ description: 'The seven days of this week, from Monday, by the ends of your sessions.' }),
  })
  .meta({
    id: 'OperatorOverview',
    description: 'The open session, the next sessions, the free robots and the week of an operator.',
  })
export type OperatorOverview = z.infer<typeof OperatorOverview>
