import {
  ActionReason,
  ChatBody,
  ChatMessage,
  ClientMessageId,
  exampleIds,
  idOf,
  SessionAction,
  SessionLogEvent,
  SessionStatus,
} from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../../core/http/cursor.ts'
import { countsBy, prose, queryInteger } from '../../../core/http/fields.ts'
import { searchWords } from '../../../core/http/search-words.ts'

const examples = {
  rating: { description: 'Number of stars, 1 to 5.', examples: [5] },
  comment: { examples: ['Careful with the vase, as asked.'] },
}

/** One day. */
const MAX_PLANNED_MINUTES = 1_440

/** Body of POST /api/sessions. */
export const CreateSession = z
  .strictObject({
    robotId: idOf('robot'),
    operatorId: idOf('operator')
      .meta({ description: 'Defaults to the caller. Only an admin may name another operator.' })
      .optional(),
    scheduledFor: z.iso
      .datetime({ offset: true })
      .meta({
        description:
          'Schedules the session for this time, at most 90 days ahead. Without it, the session starts immediately.',
        examples: ['2026-11-20T09:30:00Z'],
      })
      .optional(),
    plannedMinutes: z
      .number()
      .int()
      .min(1)
      .max(MAX_PLANNED_MINUTES)
      .meta({
        description:
          'Planned length of the session. Defaults to 60 for a scheduled session. A session that starts immediately ' +
          'has no planned end without it.',
        examples: [45],
      })
      .optional(),
  })
  .meta({
    id: 'NewSession',
    description: 'The robot, start time and planned length of a new session.',
    examples: [{ robotId: exampleIds.robot }],
  })
export type CreateSession = z.infer<typeof CreateSession>

/** Filters of lists and exports. `from` (inclusive) and `to` (exclusive) compare with `created_at`. */
const otherFilters = {
  robotId: idOf('robot').meta({ description: 'Sessions on this robot.' }).optional(),
  from: z.iso
    .datetime({ offset: true })
    .meta({ description: 'Created at this time or later.', examples: ['2026-11-01T00:00:00Z'] })
    .optional(),
  to: z.iso
    .datetime({ offset: true })
    .meta({ description: 'Created before this time.', examples: ['2026-12-01T00:00:00Z'] })
    .optional(),
  search: searchWords(
    'the current names of robot and operator, and the type of the robot',
    'warehouse',
  ).optional(),
}
const sessionFilter = { status: SessionStatus.optional(), ...otherFilters }
/** The filter of an export, as it was requested. */
export const SessionFilter = z
  .object(sessionFilter)
  .meta({ id: 'SessionFilter', description: 'Which sessions an export contains. Without a field: all.' })

const isDateRangeValid = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  !from || !to || Date.parse(from) < Date.parse(to)
const dateRangeError = { path: ['to'], message: 'must be later than from' }

/** Query of GET /api/sessions. Rejects a limit over 100: clamping would make paging loops skip rows silently. */
export const ListSessions = z
  .strictObject({
    ...sessionFilter,
    limit: queryInteger(1, 100).default(50),
    offset: queryInteger(0, 10_000_000).default(0),
    cursor: queryCursor.optional(),
    sort: z
      .enum(['-created_at', 'created_at'])
      .default('-created_at')
      .meta({ description: 'The order, with a leading minus descending.', examples: ['-created_at'] }),
  })
  .refine(isDateRangeValid, dateRangeError)
  .refine(({ cursor, offset }) => cursor === undefined || offset === 0, {
    path: ['offset'],
    message: 'must be 0 or missing with a cursor',
  })
export type ListSessions = z.infer<typeof ListSessions>

/** Query of GET /api/session-counts. */
export const CountSessions = z.strictObject(otherFilters).refine(isDateRangeValid, dateRangeError)
export type CountSessions = z.infer<typeof CountSessions>

/** Most sessions of one status that are counted. */
export const SESSION_COUNT_MAX = 10_000

/** Response of GET /api/session-counts. */
export const SessionCounts = z
  .object({
    by_status: countsBy(SessionStatus.options).meta({
      description: `Sessions per status. ${SESSION_COUNT_MAX}: this many or more.`,
      examples: [{ PENDING: 1, ACTIVE: 0, PAUSED: 0, COMPLETED: 42, CANCELLED: 3 }],
    }),
  })
  .meta({ id: 'SessionCounts', description: 'The number of your sessions for each status.' })

/** Query of GET /api/session-robots. */
export const ListSessionRobots = z.strictObject({
  search: searchWords('name or type of the robot', 'warehouse').optional(),
  robotId: idOf('robot').meta({ description: 'This robot only.' }).optional(),
  limit: queryInteger(1, 100).default(20),
})
export type ListSessionRobots = z.infer<typeof ListSessionRobots>

/** Response of GET /api/session-robots. */
export const SessionRobots = z
  .object({
    robots: z.array(
      z.object({
        id: idOf('robot'),
        name: z.string().meta({ examples: ['Warehouse arm'] }),
        robot_type: z.string().meta({ examples: ['so-101'] }),
      }),
    ),
  })
  .meta({ id: 'SessionRobots', description: 'Robots of your sessions, by name, also removed ones.' })

/** Body of PATCH /api/sessions/{id}. */
export const PerformSessionAction = z.strictObject({ action: SessionAction, reason: ActionReason.optional() })

/** Body of POST /api/sessions/{id}/extend. One request adds at most 8 hours. */
export const ExtendSession = z
  .strictObject({
    additionalMinutes: z
      .number()
      .int()
      .min(1)
      .max(480)
      .meta({ examples: [15] }),
  })
  .meta({
    id: 'ExtensionRequest',
    description: 'The number of minutes by which the client wants to extend the session.',
  })

/** Response of POST /api/sessions/{id}/extend. The request itself is in the log of the session. */
export const ExtensionReceipt = z
  .object({ message: z.string().meta({ examples: ['Asked the operator for 15 more minutes'] }) })
  .meta({ id: 'ExtensionReceipt', description: 'The extension request was sent to the operator.' })

/** Body of POST /api/sessions/{id}/rate. A blank comment becomes null. */
export const RateSession = z
  .strictObject({
    rating: z.number().int().min(1).max(5).meta(examples.rating),
    comment: prose(2_000)
      .nullable()
      .meta(examples.comment)
      .default(null)
      .transform((text) => text?.trim() || null),
  })
  .meta({ id: 'Rating', description: "A client's rating of a session." })
export type RateSession = z.output<typeof RateSession>

/** Body of POST /api/sessions/export. */
export const ExportSessions = z
  .strictObject({
    format: z.enum(['csv', 'json']).meta({
      description: 'json returns the list of GET /api/sessions; csv returns a table of the same fields.',
    }),
    ...sessionFilter,
  })
  .meta({
    id: 'SessionExport',
    description: 'The format of an export and the filter of its sessions.',
    examples: [{ format: 'csv', from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' }],
  })
  .refine(isDateRangeValid, dateRangeError)
export type ExportSessions = z.output<typeof ExportSessions>

/** Query of GET /api/sessions/{id}/messages and /events. */
export const AfterSeq = z.strictObject({
  after: queryInteger(0, 2_147_483_647)
    .default(0)
    .meta({ description: 'Returns only entries with a higher number.' }),
  limit: queryInteger(1, 200).default(100),
})

export const MessageList = z.object({ messages: z.array(ChatMessage) })
export const EventList = z.object({ events: z.array(SessionLogEvent) })

/** Body of POST /api/sessions/{id}/messages. */
export const SendMessage = z.strictObject({ body: ChatBody, clientMessageId: ClientMessageId.optional() })
