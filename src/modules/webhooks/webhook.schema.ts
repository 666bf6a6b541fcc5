import { EventFilter, idOf, MAX_EVENT_FILTERS, PlatformEvent } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'
import { DeliveryStatus, DisabledReason } from './webhook.entity.ts'

const url = z
  .string()
  .min(1)
  .max(2_000)
  .meta({
    description: 'An https URL whose host is reachable by everybody. Redirects are not followed.',
    examples: ['https://robots.example.com/hooks/wheelhouse'],
  })
const types = z
  .array(EventFilter)
  .min(1)
  .max(MAX_EVENT_FILTERS)
  .meta({
    description: 'Which events are sent: types, families such as `session.*`, or `*` for all.',
    examples: [['session.*', 'robot.status']],
  })
const description = line(200)
  .nullable()
  .meta({ examples: ['Warehouse dashboard'] })

/** Body of POST /api/webhooks. */
export const CreateWebhook = z
  .strictObject({ url, types: types.default(['*']), description: description.default(null) })
  .meta({ id: 'CreateWebhook' })
export type CreateWebhook = z.output<typeof CreateWebhook>

/** Body of PATCH /api/webhooks/{id}. */
export const UpdateWebhook = z
  .strictObject({
    url: url.optional(),
    types: types.optional(),
    description: description.optional(),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: 'Off: what waits is given up. On: events are sent from now on.' }),
  })
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
  .meta({ id: 'UpdateWebhook', examples: [{ types: ['session.*'] }] })
export type UpdateWebhook = z.output<typeof UpdateWebhook>

export const RotateSecret = z
  .strictObject({
    keep_old: z.boolean().default(true).meta({
      description: 'Whether the old secret signs too for another 24 hours; false when it has leaked.',
    }),
  })
  .default({ keep_old: true })

export const WebhookView = z
  .object({
    id: idOf('webhook'),
    url,
    description: z
      .string()
      .nullable()
      .meta({ examples: ['Warehouse dashboard'] }),
    types: z.array(z.string()).meta({ examples: [['session.*', 'robot.status']] }),
    enabled: z.boolean(),
    disabled_reason: DisabledReason.nullable().meta({
      description:
        'Why it is off: you did it, nothing arrived there for five days, or it answered 410. Null while it is on.',
      examples: [null],
    }),
    disabled_at: timestamp.nullable().meta({ examples: [null] }),
    failing_since: timestamp.nullable().meta({
      description: 'The first attempt since the last success that did not arrive.',
      examples: [null],
    }),
    last_success_at: timestamp.nullable(),
    old_secret_until: timestamp.nullable().meta({
      description: 'Until when deliveries are signed with the secret before, too.',
      examples: [null],
    }),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:20:00.000Z'] }),
  })
  .meta({ id: 'Webhook', description: 'Where your events are sent to.' })
export type WebhookView = z.infer<typeof WebhookView>

const secret = z.string().meta({
  description: 'Signs every delivery, as Standard Webhooks does. Shown this once.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…'],
})
/** Answers to a creation and to a rotation: the only times that the secret is shown. */
export const WebhookWithSecret = WebhookView.extend({ secret }).meta({
  id: 'WebhookWithSecret',
  description: 'A webhook, with its new secret this once.',
})

export const DeliveryView = z
  .object({
    id: idOf('delivery'),
    event_id: idOf('event').meta({
      description: 'The `webhook-id`: the same over all attempts and replays of an event.',
    }),
    type: z.string().meta({ examples: ['session.started'] }),
    seq: z
      .number()
      .int()
      .nullable()
      .meta({
        description: 'Number of the event in your stream; null of a test.',
        examples: [41],
      }),
    status: DeliveryStatus.meta({
      description: 'PENDING: due or to be tried again. DELIVERED: answered with 2xx. FAILED: given up.',
      examples: ['DELIVERED'],
    }),
    attempts: z
      .number()
      .int()
      .meta({ examples: [1] }),
    created_at: timestamp,
    attempted_at: timestamp.nullable().meta({ description: 'When the newest attempt began.' }),
    next_attempt_at: timestamp.nullable().meta({ description: 'Null unless PENDING.', examples: [null] }),
    settled_at: timestamp.nullable().meta({ description: 'When it was delivered or given up.' }),
    duration_ms: z
      .number()
      .int()
      .nullable()
      .meta({ examples: [84] }),
    response_status: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Of the newest attempt; null when there was no answer.', examples: [200] }),
    response_excerpt: z
      .string()
      .nullable()
      .meta({ description: 'The beginning of the answer, at most 1,024 characters.', examples: ['ok'] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the newest attempt failed.', examples: [null] }),
  })
  .meta({ id: 'WebhookDelivery', description: 'One event on its way to one webhook.' })
export type DeliveryView = z.infer<typeof DeliveryView>

/** What is sent; a test carries no `seq`. */
export const DeliveredEvent = PlatformEvent.extend({
  seq: PlatformEvent.shape.seq.optional(),
}).meta({ id: 'DeliveredEvent', description: 'The body of a delivery.' })
export type DeliveredEvent = z.infer<typeof DeliveredEvent>

export const DeliveryWithEvent = DeliveryView.extend({ event: DeliveredEvent }).meta({
  id: 'WebhookDeliveryWithEvent',
  description: 'A delivery with what it carries.',
})

const DELIVERY_PAGE_LIMIT = 100
export const DeliveryQuery = z.strictObject({
  before: idOf('delivery').optional().meta({ description: 'Deliveries older than this one.' }),
  status: DeliveryStatus.optional(),
  limit: queryInteger(1, DELIVERY_PAGE_LIMIT).default(50),
})

export const ReplaySince = z
  .strictObject({
    since: z.iso
      .datetime({ offset: true })
      .meta({ description: 'Events from this moment on.', examples: ['2026-11-20T09:00:00Z'] })
      .transform((text) => new Date(text)),
  })
  .meta({ id: 'ReplayEvents', description: 'From when on events are sent again that did not arrive.' })
