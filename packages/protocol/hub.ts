import { z } from 'zod'
import { exampleIds, idOf } from './examples.ts'
import { RobotStatus, Role, SessionAction, type SessionStatus } from './status.ts'

const timestamp = z.iso.datetime().meta({ examples: ['2026-11-20T09:30:00.000Z'] })
const seq = z.number().int().min(0)

/** A chat message, the same over REST and over the hub. */
export const ChatMessage = z
  .object({
    id: idOf('message'),
    session_id: idOf('session'),
    seq: seq.meta({ description: 'Number of the message in the log of the session.', examples: [2] }),
    sender_id: idOf('client').meta({ description: 'The user who wrote it.' }),
    sender_name: z.string().meta({ examples: ['Ada'] }),
    sender_role: Role.meta({ description: 'Role of the sender in the session.' }),
    body: z.string().meta({ examples: ['Careful with the vase'] }),
    created_at: timestamp.meta({ examples: ['2026-11-20T09:31:05.000Z'] }),
  })
  .meta({ id: 'ChatMessage', description: 'A message in the chat of a session.' })
export type ChatMessage = z.infer<typeof ChatMessage>

/** Types of entries in a session's log. */
export const SessionEventType = z.enum([
  'session.scheduled',
  'session.started',
  'session.paused',
  'session.resumed',
  'session.ended',
  'session.cancelled',
  'session.stopped',
  'session.stop_cleared',
  'session.stop_clear_requested',
  'session.pause_limit_soon',
  'session.planned_end_soon',
  'session.rated',
  'extension.requested',
  'extension.approved',
  'extension.declined',
  'robot.lost',
  'robot.back',
  'operator.back',
  'control.transferred',
  'control.requested',
  'control.request_closed',
  'recording.started',
  'recording.paused',
  'recording.resumed',
  'recording.stopped',
  'episode.started',
  'episode.ended',
  'episode.discarded',
  'chat.message',
])
export type SessionEventType = z.infer<typeof SessionEventType>

/**
 * One entry of a session's log. `seq` counts from 1 without gaps: a client that sees a gap requests the missing
 * entries. `data` of `chat.message` is the ChatMessage. All other types have `{status, actor_id?, reason?}`;
 * extensions add `extension_id`, `additional_minutes` and `planned_minutes`, a rating adds `rating` and `comment`,
 * `session.pause_limit_soon` adds `ends_at`, `session.planned_end_soon` adds `planned_minutes` and `planned_end`;
 * `control.transferred` adds `ControlTransferred`, `control.requested` and `control.request_closed` the
 * `LoggedControlRequest`, the latter with `outcome`; `recording.*` adds `recording_id` and `mode`, `episode.*` adds `task` and, once it has ended, `success` and `episode_id`.
 */
export const SessionLogEvent = z
  .object({
    session_id: idOf('session'),
    seq: seq.meta({ description: 'Counts from 1 without gaps.', examples: [1] }),
    type: z.string().meta({
      description: `Type of the entry; later versions may add types. ${SessionEventType.options.join(', ')}`,
      examples: ['session.started'],
    }),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        'The ChatMessage for chat.message. For all other types: the status after the event, actor_id unless the ' +
        'platform itself caused the event, an optional reason, and fields of the type.',
      examples: [{ status: 'ACTIVE', actor_id: exampleIds.operator }],
    }),
    at: timestamp,
  })
  .meta({ id: 'SessionEvent', description: 'One entry of the log of a session.' })
export type SessionLogEvent = z.infer<typeof SessionLogEvent>

/** Types of notifications: events of a user's sessions, and decisions about the user. */
export const NotificationType = z.enum([
  ...SessionEventType.exclude([
    'chat.message',
    'control.request_closed',
    'recording.started',
    'recording.resumed',
    'recording.stopped',
    'episode.started',
    'episode.ended',
    'episode.discarded',
  ]).options,
  'certification.approved',
  'certification.rejected',
  'certification.revoked',
  'role.removed',
  'account.suspended',
  'account.restored',
  'invoice.issued',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.voided',
  'payout.paid',
  'payout.failed',
  'payout.reversed',
  'webhook.disabled',
  'api_key.unused',
  'robot.battery_low',
  'export.ready',
  'export.failed',
  'dataset_export.ready',
  'dataset_export.failed',
])
export type NotificationType = z.infer<typeof NotificationType>

export const NotificationEvent = z.object({
  id: z.string().meta({ description: 'Counts from 1 without gaps, for each user.', examples: ['12'] }),
  type: z.string().meta({
    description: `Type of the notification; later versions may add types. ${NotificationType.options.join(', ')}`,
    examples: ['session.started'],
  }),
  data: z.record(z.string(), z.unknown()).meta({
    description: 'Ids of the affected resources, and fields of the type.',
    examples: [{ session_id: exampleIds.session, robot_id: exampleIds.robot, robot_name: 'Warehouse arm' }],
  }),
  created_at: timestamp,
})
export type NotificationEvent = z.infer<typeof NotificationEvent>

/**
 * Reports that a user has read one notification (`id`) or all up to one (`up_to`), on any connection. `unread` counts
 * the unread notifications up to `head`, the newest one. Of two counts, the one with the higher `head` is newer; with
 * the same `head`, the lower count is newer.
 */
export const NotificationReadEvent = z.object({
  id: z.string().optional(),
  up_to: z.string().optional(),
  read_at: timestamp,
  unread: seq,
  head: z.string(),
})
export type NotificationReadEvent = z.infer<typeof NotificationReadEvent>

export const RobotStatusEvent = z.object({
  robot_id: idOf('robot'),
  status: RobotStatus,
  last_heartbeat: timestamp.nullable(),
})
export type RobotStatusEvent = z.infer<typeof RobotStatusEvent>

export const TypingEvent = z.object({ session_id: z.uuid(), user_id: z.uuid(), display_name: z.string() })
export type TypingEvent = z.infer<typeof TypingEvent>

/** Longest chat message, in characters. */
export const CHAT_BODY_MAX = 4_000
export const ChatBody = z
  .string()
  .max(CHAT_BODY_MAX)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')
  .meta({ examples: ['Careful with the vase'] })
export const ClientMessageId = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
  .meta({
    description: 'Makes a repetition safe: a request with the same id returns the first message.',
    examples: ['m-17'],
  })
/** Reason of an action. The platform shows it to the other participants. */
export const ActionReason = z
  .string()
  .max(500)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')
  .meta({ examples: ['Lunch'] })

/** Largest number of sessions that one connection may watch at a time. */
export const MAX_WATCHED_SESSIONS = 100

/** Commands that a client sends. The hub acknowledges each. */
export const hubCommands = {
  'session:watch': z.strictObject({ session_id: z.uuid(), after: seq.optional() }),
  'session:unwatch': z.strictObject({ session_id: z.uuid() }),
  'chat:send': z.strictObject({ session_id: z.uuid(), body: ChatBody, client_message_id: ClientMessageId }),
  'chat:typing': z.strictObject({ session_id: z.uuid() }),
  'session:action': z.strictObject({
    session_id: z.uuid(),
    action: SessionAction,
    reason: ActionReason.optional(),
  }),
  'notifications:since': z.strictObject({
    after: z
      .string()
      .regex(/^\d{1,9}$/, 'must be the id of a notification')
      .optional(),
  }),
  'robots:watch': z.strictObject({}),
  /** Asks for an answer, as a hub that hangs ends no connection. */
  ping: z.strictObject({}),
} as const
export type HubCommandName = keyof typeof hubCommands
export type HubCommand<N extends HubCommandName> = z.input<(typeof hubCommands)[N]>

/** The session as `session:watch` returns it: the REST session, as the caller may see it. */
export interface WatchedSession {
  readonly id: string
  readonly status: SessionStatus
  readonly robot_id: string
  readonly [field: string]: unknown
}

/** Fields of each command's acknowledgement in addition to `ok: true`. */
export interface HubAnswers {
  'session:watch': {
    session: WatchedSession
    /** Log entries after `after`, oldest first; at most one page. */
    events: SessionLogEvent[]
    /** Number of the newest entry. When the last of `events` is below it, request the next page with `after`. */
    head: number
  }
  'session:unwatch': object
  'chat:send': { message: ChatMessage }
  'chat:typing': object
  'session:action': { session: WatchedSession }
  'notifications:since': {
    notifications: NotificationEvent[]
    head: string
    /** Number of unread notifications up to `head`. Older hubs do not send it. */
    unread?: number | undefined
  }
  'robots:watch': { robots: RobotStatusEvent[] }
  ping: object
}

export type HubAck<N extends HubCommandName> =
  | ({ ok: true } & HubAnswers[N])
  | { ok: false; error: string; status: number }

/** Events that the hub pushes, by name. */
export interface HubEvents {
  'session:event': SessionLogEvent
  notification: NotificationEvent
  'notification:read': NotificationReadEvent
  'robot:status': RobotStatusEvent
  'chat:typing': TypingEvent
}
