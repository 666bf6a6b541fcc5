import { idOf, RobotState } from '@wheelhouse/protocol'
import { z } from 'zod'
import { countsBy, timestamp } from '../../core/http/fields.ts'
import { LiveRobot } from './live-robot.schema.ts'

const count = z.number().int()
/** Most live robots of an overview. */
export const OVERVIEW_LIVE_MAX = 50
/** Most robots on hold, and most failed invoices, of an overview. */
export const OVERVIEW_ATTENTION_MAX = 10
/** How long a robot that went offline needs attention. */
export const OFFLINE_MINUTES = 60

/** How long a failed export needs attention. */
export const FAILED_EXPORT_MINUTES = 24 * 60
/** An export that is not finished after this time is stuck. */
export const STUCK_EXPORT_MINUTES = 60

const RobotOnHold = z
  .object({ id: idOf('robot'), name: z.string().meta({ examples: ['Warehouse arm'] }) })
  .meta({ id: 'RobotOnHold' })

const FailedInvoice = z
  .object({
    id: idOf('invoice'),
    month: z.string().meta({ description: 'YYYY-MM, in UTC.', examples: ['2026-10'] }),
    total_cents: count.meta({ examples: [6_300] }),
  })
  .meta({ id: 'FailedInvoice', description: 'An invoice whose collection failed.' })

const NotRecorded = z
  .object({
    session_id: idOf('session'),
    robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    reason: z.string().meta({ examples: ['no_recorder'] }),
  })
  .meta({ id: 'NotRecorded', description: 'An open session that should be recorded, and is not now.' })

const FailingWebhook = z
  .object({
    id: idOf('webhook'),
    url: z.string().meta({ examples: ['https://example.com/hook'] }),
    enabled: z
      .boolean()
      .meta({ description: 'False once the platform has turned it off.', examples: [true] }),
    since: timestamp.nullable(),
  })
  .meta({ id: 'FailingWebhook' })

const StuckExport = z
  .object({
    id: idOf('datasetExport'),
    name: z.string().meta({ examples: ['pick-and-place'] }),
    failed: z.boolean().meta({ description: 'False for one that does not end.', examples: [true] }),
    created_at: timestamp,
  })
  .meta({ id: 'StuckExport' })

const LowBattery = z
  .object({
    id: idOf('robot'),
    name: z.string().meta({ examples: ['Warehouse arm'] }),
    battery: z.number().meta({ description: 'Charge, 0 to 1.', examples: [0.14] }),
  })
  .meta({ id: 'LowBattery', description: "A connected robot whose charge is below the robot's threshold." })

const WentOffline = z
  .object({
    count: count.meta({ description: 'All of them.', examples: [24] }),
    last_at: timestamp.nullable().meta({ description: 'When the last one was online; null without one.' }),
    robots: z
      .array(z.object({ id: idOf('robot'), name: z.string().meta({ examples: ['Warehouse arm'] }) }))
      .meta({ description: `At most ${OVERVIEW_ATTENTION_MAX}, the last ones first.` }),
  })
  .meta({
    id: 'WentOffline',
    description: `Robots without a session that were online less than ${OFFLINE_MINUTES} minutes ago, and are not now.`,
  })

/** Response of GET /api/client/overview. */
export const ClientOverview = z
  .object({
    at: timestamp.meta({ description: 'When this was read.' }),
    robots: countsBy(RobotState.options).meta({
      description: 'Robots by state.',
      examples: [{ READY: 2, DRIVING: 1, PAUSED: 0, STOPPED: 0, LOST: 0, OFFLINE: 4 }],
    }),
    live: z.array(LiveRobot).meta({
      description: `At most ${OVERVIEW_LIVE_MAX} live robots, in the order of \`LiveRobotList\`.`,
    }),
    on_hold: z.array(RobotOnHold).meta({ description: `At most ${OVERVIEW_ATTENTION_MAX} robots on hold.` }),
    low_batteries: z
      .array(LowBattery)
      .meta({ description: `At most ${OVERVIEW_ATTENTION_MAX}, the lowest first.` }),
    went_offline: WentOffline,
    failed_invoices: z
      .array(FailedInvoice)
      .meta({ description: `At most ${OVERVIEW_ATTENTION_MAX}, newest first.` }),
    not_recorded: z.array(NotRecorded).meta({
      description: `At most ${OVERVIEW_ATTENTION_MAX} open sessions that should be recorded, and are not.`,
    }),
    failing_webhooks: z
      .array(FailingWebhook)
      .meta({ description: `At most ${OVERVIEW_ATTENTION_MAX}, oldest first.` }),
    stuck_exports: z.array(StuckExport).meta({
      description: `At most ${OVERVIEW_ATTENTION_MAX} exports of datasets that failed in the last 24 hours, or are not finished after ${STUCK_EXPORT_MINUTES} minutes; newest first.`,
    }),
    today: z
      .object({
        sessions: count.meta({ description: 'Sessions that ended today.', examples: [4] }),
        minutes: count.meta({ description: 'Billed minutes of these sessions.', examples: [96] }),
        spend_cents: count.nullable().meta({
          description: 'Charges of these sessions; null for members who may not see costs.',
          examples: [4_800],
        }),
        running_cents: count.nullable().meta({
          description: 'Cost of the open sessions if they ended now; null for members who may not see costs.',
          examples: [650],
        }),
      })
      .meta({ description: 'Costs since midnight UTC.' }),
    first_steps: z
      .object({
        registered: z.boolean().meta({ description: 'Whether you have a robot.' }),
        connected: z.boolean().meta({ description: 'Whether a robot of yours has connected.' }),
        driven: z.boolean().meta({ description: 'Whether a robot of yours has been in a session.' }),
        driven_by_others: z
          .boolean()
          .meta({ description: 'Whether another user has operated a robot of yours.' }),
      })
      .meta({ description: 'The first steps of a new owner.' }),
  })
  .meta({
    id: 'ClientOverview',
    description: 'The present state of a client: attention, live robots, costs.',
  })
export type ClientOverview = z.infer<typeof ClientOverview>
