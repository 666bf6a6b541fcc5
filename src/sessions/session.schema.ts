import {
  ActionReason,
  ChatBody,
  ChatMessage,
  ClientMessageId,
  SessionAction,
  SessionLogEvent,
  SessionStatus,
} from '@wheelhouse/protocol'
import { z } from 'zod'
import { prose, queryInteger, timestamp } from '../http/fields.ts'

/** Body of POST /api/sessions. */
export const CreateSession = z.strictObject({
  robotId: z.uuid(),
  operatorId: z
    .uuid()
    .meta({ description: 'The caller, unless an admin names another operator.' })
    .optional(),
  scheduledFor: z.iso
    .datetime({ offset: true })
    .meta({
      description: 'Plans the session for this time, at most 90 days ahead, instead of starting it now.',
    })
    .optional(),
})
export type CreateSession = z.infer<typeof CreateSession>

export const CreatedSession = z.object({ sessionId: z.uuid(), status: SessionStatus })

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
export const ExtendSession = z.strictObject({ additionalMinutes: z.number().int().min(1).max(480) })

/** Body of POST /api/sessions/{id}/rate. A comment without a word is none. */
export const RateSession = z.strictObject({
  rating: z.number().int().min(1).max(5),
  comment: prose(2_000)
    .nullable()
    .default(null)
    .transform((text) => text?.trim() || null),
})
export type RateSession = z.output<typeof RateSession>

/** Body of POST /api/sessions/export; `from` (inclusive) and `to` (exclusive) are about `created_at`. */
export const ExportSessions = z
  .strictObject({
    format: z.enum(['csv', 'json']),
    status: SessionStatus.optional(),
    from: z.iso.datetime({ offset: true }).optional(),
    to: z.iso.datetime({ offset: true }).optional(),
  })
  .refine(({ from, to }) => !from || !to || Date.parse(from) < Date.parse(to), {
    path: ['to'],
    message: 'must be later than from',
  })
export type ExportSessions = z.output<typeof ExportSessions>

const cents = 'In cents; null until it is fixed.'

const shared = {
  id: z.uuid(),
  status: SessionStatus,
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
  duration_minutes: z
    .number()
    .int()
    .nullable()
    .meta({ examples: [25] }),
  client_charge_cents: z
    .number()
    .int()
    .nullable()
    .meta({ description: cents, examples: [1250] }),
  rating: z
    .number()
    .int()
    .min(1)
    .max(5)
    .nullable()
    .meta({ examples: [5] }),
  created_at: timestamp,
  robot_id: z.uuid(),
  robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
  robot_type: z.string().meta({ examples: ['so-101'] }),
  operator_name: z.string().meta({ examples: ['Grace'] }),
}

const clientView = {
  ...shared,
  episodes_collected: z.number().meta({ examples: [12] }),
  data_collected_mb: z.number().meta({ examples: [340.5] }),
}
/** The Session as the robot's owner sees it. */
export const ClientSession = z
  .strictObject(clientView)
  .meta({ id: 'ClientSession', description: 'A session as the owner of the robot sees it.' })
const operatorView = {
  ...shared,
  operator_earnings_cents: z
    .number()
    .int()
    .nullable()
    .meta({ description: cents, examples: [875] }),
}
/** The Session as its operator sees it. */
export const OperatorSession = z
  .strictObject(operatorView)
  .meta({ id: 'OperatorSession', description: 'A session as its operator sees it.' })
export const SessionView = z.union([ClientSession, OperatorSession]).meta({ id: 'Session' })
export type SessionView = z.infer<typeof SessionView>

const details = {
  scheduled_for: timestamp.nullable(),
  planned_minutes: z
    .number()
    .int()
    .nullable()
    .meta({ examples: [30] }),
  paused_seconds: z
    .number()
    .int()
    .meta({ examples: [40] }),
  pause_reason: z
    .string()
    .nullable()
    .meta({ examples: [null] }),
  rating_comment: z
    .string()
    .nullable()
    .meta({ examples: [null] }),
  end_reason: z
    .string()
    .nullable()
    .meta({ examples: ['ended'] }),
  control: z
    .strictObject({
      /** Whether the robot is connected. */
      connected: z.boolean(),
      /** The latched stop in force; `by` is the user who stopped. */
      stop: z.strictObject({ reason: z.string(), at: timestamp, by: z.uuid().nullable() }).nullable(),
    })
    .meta({ examples: [{ connected: true, stop: null }] }),
}
export const SessionDetail = z
  .union([
    z.strictObject({ ...clientView, ...details }).meta({ id: 'ClientSessionDetail' }),
    z.strictObject({ ...operatorView, ...details }).meta({ id: 'OperatorSessionDetail' }),
  ])
  .meta({ id: 'SessionDetail' })
export type SessionDetail = z.infer<typeof SessionDetail>

/** Query of the two logs: entries after a number, oldest first. */
export const AfterSeq = z.strictObject({
  after: queryInteger(0, 2_147_483_647).default(0),
  limit: queryInteger(1, 200).default(100),
})

export const MessageList = z.object({ messages: z.array(ChatMessage) })
export const EventList = z.object({ events: z.array(SessionLogEvent) })

/** Body of POST /api/sessions/{id}/messages. */
export const SendMessage = z.strictObject({ body: ChatBody, clientMessageId: ClientMessageId.optional() })
