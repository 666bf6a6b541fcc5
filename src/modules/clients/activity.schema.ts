import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'

/** How far back the activity of robots goes. */
export const ACTIVITY_HOURS = 24
/** Most sessions of an activity. */
export const ACTIVITY_SESSIONS_MAX = 200
/** Most changes of state in the sessions of an activity. */
export const ACTIVITY_CHANGES_MAX = 5_000

const SessionSpan = z
  .object({
    state: z.enum(['DRIVING', 'PAUSED', 'STOPPED']).meta({ examples: ['DRIVING'] }),
    from: timestamp,
    to: timestamp.nullable().meta({ description: 'Null while it lasts.', examples: [null] }),
  })
  .meta({ id: 'SessionSpan', description: 'A time in a session with one state.' })

const SessionActivity = z
  .object({
    id: idOf('session'),
    robot_id: idOf('robot'),
    robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    operator_name: z.string().meta({ examples: ['Grace'] }),
    driven_seconds: z
      .number()
      .int()
      .meta({ description: 'Time that was not paused.', examples: [2_460] }),
    cost_cents: z
      .number()
      .int()
      .meta({ description: 'Its charge; for an open session its cost if it ended now.', examples: [2_100] }),
    spans: z.array(SessionSpan).meta({ description: 'Earliest first, without gaps.' }),
  })
  .meta({ id: 'SessionActivity', description: 'What a robot did in a session.' })
export type SessionActivity = z.infer<typeof SessionActivity>

/** Query of GET /api/client/activity. */
export const ReadActivity = z.strictObject({
  robotId: z.uuid().optional().meta({ description: 'Reads the sessions of this robot only.' }),
})
export type ReadActivity = z.infer<typeof ReadActivity>

/** Response of GET /api/client/activity. */
export const Activity = z
  .object({
    at: timestamp.meta({ description: 'When this was read.' }),
    since: timestamp.meta({ description: 'Sessions that ended before are not listed.' }),
    sessions: z.array(SessionActivity).meta({
      description: `At most ${ACTIVITY_SESSIONS_MAX} sessions that are open or ended in the last ${ACTIVITY_HOURS} hours, newest first.`,
    }),
  })
  .meta({
    id: 'Activity',
    description: `What the robots of an owner did in the last ${ACTIVITY_HOURS} hours.`,
  })
export type Activity = z.infer<typeof Activity>
