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
import { prose, queryInteger, timestamp } from '../http/fields.ts'

const examples = {
  rating: { description: 'Stars, 1 to 5.', examples: [5] },
  comment: { examples: ['Careful with the vase, as asked.'] },
}

/** Body of POST /api/sessions. */
export const CreateSession = z.strictObject({
  robotId: idOf('robot'),
  operatorId: idOf('operator')
    .meta({ description: 'The caller, unless an admin names another operator.' })
    .optional(),
  scheduledFor: z.iso
    .datetime({ offset: true })
    .meta({
      description: 'Plans the session for this time, at most 90 days ahead, instead of starting it now.',
      examples: ['2026-11-20T09:30:00Z'],
    })
    .optional(),
})
export type CreateSession = z.infer<typeof CreateSession>

export const CreatedSession = z
  .object({
    sessionId: idOf('session'),
    status: SessionStatus.meta({ description: 'ACTIVE when it has started, PENDING when it is scheduled.' }),
  })
  .meta({ id: 'CreatedSession', description: 'The id and status of a new session.' })

/** Query of GET /api/sessions. A limit over 100 is refused: clamping would make page loops skip rows unseen. */
export const ListSessions = z.strictObject({
  status: SessionStatus.optional(),
  limit: queryInteger(1, 100).default(50),
  offset: queryInteger(0, 10_000_000).default(0),
})
export type ListSessions = z.infer<typeof ListSessions>

/** Body of PATCH /api/sessions/{id}. */
export const ActOnSession = z.strictObject({ action: SessionAction, reason: ActionReason.optional() })

/** Body of POST /api/sessions/{id}/extend: at most a working day at a time. */
export const ExtendSession = z
  .strictObject({
    additionalMinutes: z
      .number()
      .int()
      .min(1)
      .max(480)
      .meta({ examples: [15] }),
  })
  .meta({ id: 'ExtensionRequest', description: 'How much longer the client wants the session to last.' })

/** Answer of POST /api/sessions/{id}/extend. The request itself stands in the log of the session. */
export const ExtensionReceipt = z
  .object({ message: z.string().meta({ examples: ['Asked the operator for 15 more minutes'] }) })
  .meta({ id: 'ExtensionReceipt', description: 'The operator has been asked.' })

/** Body of POST /api/sessions/{id}/rate. A comment without a word is none. */
export const RateSession = z
  .strictObject({
    rating: z.number().int().min(1).max(5).meta(examples.rating),
    comment: prose(2_000)
      .nullable()
      .meta(examples.comment)
      .default(null)
      .transform((text) => text?.trim() || null),
  })
  .meta({ id: 'Rating', description: 'What a client thought of a session.' })
export type RateSession = z.output<typeof RateSession>

/** Body of POST /api/sessions/export; `from` (inclusive) and `to` (exclusive) are about `created_at`. */
export const ExportSessions = z
  .strictObject({
    format: z.enum(['csv', 'json']).meta({
      description: 'json is {"sessions": […]} as in the list; csv is a table of the same fields.',
    }),
    status: SessionStatus.optional(),
    from: z.iso
      .datetime({ offset: true })
      .meta({ description: 'Created at this time or later.', examples: ['2026-11-01T00:00:00Z'] })
      .optional(),
    to: z.iso
      .datetime({ offset: true })
      .meta({ description: 'Created before this time.', examples: ['2026-12-01T00:00:00Z'] })
      .optional(),
  })
  .meta({ id: 'SessionExport', description: 'Which of your sessions to export, and how.' })
  .refine(({ from, to }) => !from || !to || Date.parse(from) < Date.parse(to), {
    path: ['to'],
    message: 'must be later than from',
  })
export type ExportSessions = z.output<typeof ExportSessions>

const cents = 'In cents; null until the session is COMPLETED.'
const whole = z.number().int()

const shared = {
  id: idOf('session'),
  status: SessionStatus,
  started_at: timestamp.nullable().meta({ description: 'Null until it has started.' }),
  ended_at: timestamp.nullable().meta({ description: 'Null until it is COMPLETED or CANCELLED.' }),
  duration_minutes: whole.nullable().meta({
    description: 'From start to end, or to now, begun minutes counted whole; null until it has started.',
  }),
  client_charge_cents: whole.nullable().meta({ description: cents }),
  rating: whole.min(1).max(5).nullable().meta({ description: 'Stars, 1 to 5; null until it is rated.' }),
  created_at: timestamp,
  robot_id: idOf('robot'),
  robot_name: z.string(),
  robot_type: z.string(),
  operator_name: z.string(),
}

/** A session of half an hour that is over: 24 begun minutes were ACTIVE, at 50 cents each. */
const example = {
  id: exampleIds.session,
  status: 'COMPLETED',
  started_at: '2026-11-20T09:30:00.000Z',
  ended_at: '2026-11-20T09:54:20.000Z',
  duration_minutes: 25,
  client_charge_cents: 1_200,
  rating: 5,
  created_at: '2026-11-19T17:05:00.000Z',
  robot_id: exampleIds.robot,
  robot_name: 'Warehouse arm',
  robot_type: 'so-101',
  operator_name: 'Grace',
}
const clientExample = { ...example, episodes_collected: 12, data_collected_mb: 340.5 }
const operatorExample = { ...example, operator_earnings_cents: 840 }

const clientView = { ...shared, episodes_collected: z.number(), data_collected_mb: z.number() }
/** The Session as the robot's owner sees it. */
export const ClientSession = z.object(clientView).meta({
  id: 'ClientSession',
  description: 'A session as the owner of the robot sees it.',
  examples: [clientExample],
})
const operatorView = { ...shared, operator_earnings_cents: whole.nullable().meta({ description: cents }) }
/** The Session as its operator sees it. */
export const OperatorSession = z.object(operatorView).meta({
  id: 'OperatorSession',
  description: 'A session as its operator sees it.',
  examples: [operatorExample],
})
export const SessionView = z.union([ClientSession, OperatorSession]).meta({
  id: 'Session',
  description:
    'A session of yours: as its operator you see your earnings, as the owner of the robot what was collected.',
})
export type SessionView = z.infer<typeof SessionView>

const details = {
  scheduled_for: timestamp.nullable().meta({ description: 'Null when it was started at once.' }),
  planned_minutes: whole.nullable().meta({ description: 'Null until an extension is approved.' }),
  paused_seconds: whole.meta({ description: 'Of all pauses, the present one included.' }),
  pause_reason: z.string().nullable().meta({ description: 'Null unless it is PAUSED.' }),
  rating_comment: z.string().nullable().meta({ description: 'Null without a rating, or without a comment.' }),
  end_reason: z.string().nullable().meta({ description: 'Null until it is COMPLETED or CANCELLED.' }),
  control: z.object({
    connected: z.boolean().meta({ description: 'Whether the robot is connected.' }),
    stop: z
      .object({
        reason: z.string(),
        at: timestamp,
        by: idOf('client').nullable().meta({ description: 'The user who stopped the robot.' }),
      })
      .nullable()
      .meta({ description: 'The latched stop in force; null when there is none.' }),
  }),
}
const detailsExample = {
  scheduled_for: '2026-11-20T09:30:00.000Z',
  planned_minutes: null,
  paused_seconds: 40,
  pause_reason: null,
  rating_comment: examples.comment.examples[0],
  end_reason: 'ended',
  control: { connected: true, stop: null },
}
export const SessionDetail = z
  .union([
    z.object({ ...clientView, ...details }).meta({
      id: 'ClientSessionDetail',
      description: 'One session in full, as the owner of the robot sees it.',
      examples: [{ ...clientExample, ...detailsExample }],
    }),
    z.object({ ...operatorView, ...details }).meta({
      id: 'OperatorSessionDetail',
      description: 'One session in full, as its operator sees it.',
      examples: [{ ...operatorExample, ...detailsExample }],
    }),
  ])
  .meta({ id: 'SessionDetail', description: 'One session in full, in your view of it.' })
export type SessionDetail = z.infer<typeof SessionDetail>

/** Query of the two logs: entries after a number, oldest first. */
export const AfterSeq = z.strictObject({
  after: queryInteger(0, 2_147_483_647).default(0).meta({ description: 'Entries numbered above this.' }),
  limit: queryInteger(1, 200).default(100),
})

export const MessageList = z.object({ messages: z.array(ChatMessage) })
export const EventList = z.object({ events: z.array(SessionLogEvent) })

/** Body of POST /api/sessions/{id}/messages. */
export const SendMessage = z.strictObject({ body: ChatBody, clientMessageId: ClientMessageId.optional() })
