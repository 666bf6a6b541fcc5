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
import { prose, queryInteger } from '../../../core/http/fields.ts'

const examples = {
  rating: { description: 'Stars, 1 to 5.', examples: [5] },
  comment: { examples: ['Careful with the vase, as asked.'] },
}

/** A day: what lasts longer is another session. */
const MAX_PLANNED_MINUTES = 1_440

/** Body of POST /api/sessions. */
export const CreateSession = z
  .strictObject({
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
    plannedMinutes: z
      .number()
      .int()
      .min(1)
      .max(MAX_PLANNED_MINUTES)
      .meta({
        description:
          'How long the session is planned for. A scheduled session is planned for 60 minutes unless this says ' +
          'otherwise; one that starts now has no planned end without it.',
        examples: [45],
      })
      .optional(),
  })
  .meta({
    id: 'NewSession',
    description: 'Which robot to take, when, and for how long.',
    examples: [{ robotId: exampleIds.robot }],
  })
export type CreateSession = z.infer<typeof CreateSession>

/** Which sessions; `from` (inclusive) and `to` (exclusive) are about `created_at`. */
const sessionFilter = {
  status: SessionStatus.optional(),
  robotId: idOf('robot').meta({ description: 'Sessions on this robot.' }).optional(),
  from: z.iso
    .datetime({ offset: true })
    .meta({ description: 'Created at this time or later.', examples: ['2026-11-01T00:00:00Z'] })
    .optional(),
  to: z.iso
    .datetime({ offset: true })
    .meta({ description: 'Created before this time.', examples: ['2026-12-01T00:00:00Z'] })
    .optional(),
}
const isDateRangeValid = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  !from || !to || Date.parse(from) < Date.parse(to)
const dateRangeError = { path: ['to'], message: 'must be later than from' }

/** Query of GET /api/sessions. A limit over 100 is refused: clamping would make page loops skip rows unseen. */
export const ListSessions = z
  .strictObject({
    ...sessionFilter,
    limit: queryInteger(1, 100).default(50),
    offset: queryInteger(0, 10_000_000).default(0),
  })
  .refine(isDateRangeValid, dateRangeError)
export type ListSessions = z.infer<typeof ListSessions>

/** Body of PATCH /api/sessions/{id}. */
export const PerformSessionAction = z.strictObject({ action: SessionAction, reason: ActionReason.optional() })

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

/** Body of POST /api/sessions/export. */
export const ExportSessions = z
  .strictObject({
    format: z.enum(['csv', 'json']).meta({
      description: 'json is the list of GET /api/sessions; csv is a table of the same fields.',
    }),
    ...sessionFilter,
  })
  .meta({
    id: 'SessionExport',
    description: 'Which of your sessions to export, and how.',
    examples: [{ format: 'csv', from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' }],
  })
  .refine(isDateRangeValid, dateRangeError)
export type ExportSessions = z.output<typeof ExportSessions>

/** Query of the two logs: entries after a number, oldest first. */
export const AfterSeq = z.strictObject({
  after: queryInteger(0, 2_147_483_647).default(0).meta({ description: 'Entries numbered above this.' }),
  limit: queryInteger(1, 200).default(100),
})

export const MessageList = z.object({ messages: z.array(ChatMessage) })
export const EventList = z.object({ events: z.array(SessionLogEvent) })

/** Body of POST /api/sessions/{id}/messages. */
export const SendMessage = z.strictObject({ body: ChatBody, clientMessageId: ClientMessageId.optional() })
