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
  operatorId: z.uuid().optional(),
  scheduledFor: z.iso.datetime({ offset: true }).optional(),
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

const shared = {
  id: z.uuid(),
  status: SessionStatus,
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
  duration_minutes: z.number().int().nullable(),
  client_charge_cents: z.number().int().nullable(),
  rating: z.number().int().min(1).max(5).nullable(),
  created_at: timestamp,
  robot_id: z.uuid(),
  robot_name: z.string(),
  robot_type: z.string(),
  operator_name: z.string(),
}

/** The Session as the robot's owner sees it. */
export const ClientSession = z.strictObject({
  ...shared,
  episodes_collected: z.number(),
  data_collected_mb: z.number(),
})
/** The Session as its operator sees it. */
export const OperatorSession = z.strictObject({
  ...shared,
  operator_earnings_cents: z.number().int().nullable(),
})
export const SessionView = z.union([ClientSession, OperatorSession])
export type SessionView = z.infer<typeof SessionView>

const details = {
  scheduled_for: timestamp.nullable(),
  planned_minutes: z.number().int().nullable(),
  paused_seconds: z.number().int(),
  pause_reason: z.string().nullable(),
  rating_comment: z.string().nullable(),
  end_reason: z.string().nullable(),
  control: z.strictObject({
    /** Whether the robot is connected. */
    connected: z.boolean(),
    /** The latched stop in force; `by` is the user who stopped. */
    stop: z.strictObject({ reason: z.string(), at: timestamp, by: z.uuid().nullable() }).nullable(),
  }),
}
export const SessionDetail = z.union([ClientSession.extend(details), OperatorSession.extend(details)])
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
