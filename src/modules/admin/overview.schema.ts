import { idOf, RobotStatus, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { countsBy, timestamp } from '../../core/http/fields.ts'

const count = z.number().int()

/** An open session, as admins see it. */
const OverviewSession = z
  .object({
    id: idOf('session'),
    status: SessionStatus,
    started_at: timestamp,
    robot_id: idOf('robot'),
    robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    robot_connected: z.boolean(),
    operator_id: idOf('operator'),
    operator_name: z.string().meta({ examples: ['Grace'] }),
    client_id: idOf('client'),
    client_name: z.string().meta({ examples: ['Ada'] }),
    pause_reason: z
      .string()
      .nullable()
      .meta({ description: 'Null unless it is PAUSED.', examples: [null] }),
    stop: z
      .object({
        reason: z.string().meta({ examples: ['A person is in its way'] }),
        at: timestamp,
        by: idOf('client').nullable(),
        by_name: z
          .string()
          .nullable()
          .meta({ examples: ['Ada'] }),
      })
      .nullable()
      .meta({ description: 'The latched remote stop; null when none is latched.', examples: [null] }),
  })
  .meta({ id: 'OverviewSession', description: 'An open session: its robot, its operator and its start.' })

const OverviewGateway = z
  .object({
    id: z.uuid().meta({ examples: ['5d0e9c37-82b4-4a1f-9c66-b7f3e14a8d20'] }),
    url: z.string().meta({ examples: ['wss://gateway-1.example.com'] }),
    started_at: timestamp,
    seen_at: timestamp.meta({ description: 'When it last updated its row.' }),
    draining: z
      .boolean()
      .meta({ description: 'Whether it shuts down and hands its robots over to other gateways.' }),
    robots: count.meta({ description: 'Robots connected to it.', examples: [318] }),
  })
  .meta({ id: 'OverviewGateway', description: 'A running gateway process.' })

/** Response of GET /api/admin/overview. */
export const Overview = z
  .object({
    at: timestamp.meta({ description: 'When this was read, by the clock of the database.' }),
    robots: countsBy(RobotStatus.options).meta({
      description: 'Registered robots by status.',
      examples: [{ OFFLINE: 922, AVAILABLE: 231, IN_SESSION: 87 }],
    }),
    sessions: z.object({
      total: count.meta({ description: 'All open sessions.', examples: [87] }),
      open: z
        .array(OverviewSession)
        .meta({ description: 'The 100 most recently started sessions, newest first.' }),
    }),
    not_recorded: z
      .array(
        z.object({
          reason: z.string().meta({ description: 'A reason of gaps.', examples: ['no_recorder'] }),
          sessions: count.meta({ examples: [2] }),
        }),
      )
      .meta({ description: 'Open sessions that should be recorded and are not, by reason.' }),
    gateways: z.array(OverviewGateway).meta({ description: 'At most 100, longest running first.' }),
  })
  .meta({ id: 'Overview', description: 'The current state of the platform.' })
export type Overview = z.infer<typeof Overview>
