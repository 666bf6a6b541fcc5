import { EventFilter, idOf, MAX_EVENT_FILTERS, PlatformEvent } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'
import { DeliveryStatus, DisabledReason } from './webhook.entity.ts'

const url = z
  .string()
  .min(1)
  .max(2_000)
  .meta({
    description: 'An https URL with a public host. Redirects are not followed.',
    examples: ['https://robots.example.com/hooks/wheelhouse'],
  })
const types = z
  .array(EventFilter)
  .min(1)
  .max(MAX_EVENT_FILTERS)
  .meta({
    description: 'The events to send: types, families such as `session.*`, or `*` for all.',
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
      .meta({ description: 'False: pending deliveries fail. True: new events are sent.' }),
  })
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
  .meta({ id: 'UpdateWebhook', examples: [{ types: ['session.*'] }] })
export type UpdateWebhook = z.output<typeof UpdateWebhook>

export const RotateSecret = z
  .strictObject({
    keep_old: z.boolean().default(true).meta({
      description: 'Whether the old secret also signs for another 24 hours. Send false if it has leaked.',
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
        'Why the webhook is disabled: by you, after five days of failures, or by a 410 response. Null while it is enabled.',
      examples: [null],
    }),
    disabled_at: timestamp.nullable().meta({ examples: [null] }),
    failing_since: timestamp.nullable().meta({
      description: 'The time of the first failure since the last success.',
      examples: [null],
    }),
    last_success_at: timestamp.nullable(),
    old_secret_until: timestamp.nullable().meta({
      description: 'Until when the previous secret also signs deliveries.',
      examples: [null],
    }),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:20:00.000Z'] }),
  })
  .meta({ id: 'Webhook', description: 'A subscription of your events to a URL.' })
export type WebhookView = z.infer<typeof WebhookView>

const secret = z.string().meta({
  description: 'The secret that signs deliveries, as in Standard Webhooks. Only this response contains it.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…'],
})
/** Response to a creation and to a rotation. Only these contain the secret. */
export const WebhookWithSecret = WebhookView.extend({ secret }).meta({
  id: 'WebhookWithSecret',
  description: 'A webhook, including its new secret.',
})

export const DeliveryView = z
  .object({
    id: idOf('delivery'),
    event_id: idOf('event').meta({
      description: 'The `webhook-id`, the same in all attempts and replays of an event.',
    }),
    type: z.string().meta({ examples: ['session.started'] }),
    seq: z
      .number()
      .int()
      .nullable()
      .meta({
        description: 'The number of the event in your stream; null for a test event.',
        examples: [41],
      }),
    status: DeliveryStatus.meta({
      description:
        'PENDING: due or waiting for a retry. DELIVERED: the receiver returned 2xx. FAILED: no more retries.',
      examples: ['DELIVERED'],
    }),
    attempts: z
      .number()
      .int()
      .meta({ examples: [1] }),
    created_at: timestamp,
    attempted_at: timestamp.nullable().meta({ description: 'When the latest attempt started.' }),
    next_attempt_at: timestamp.nullable().meta({ description: 'Null unless PENDING.', examples: [null] }),
    settled_at: timestamp.nullable().meta({ description: 'When it was delivered or failed.' }),
    duration_ms: z
      .number()
      .int()
      .nullable()
      .meta({ examples: [84] }),
    response_status: z
      .number()
      .int()
      .nullable()
      .meta({
        description: 'The status of the latest response; null if the latest attempt got none.',
        examples: [200],
      }),
    response_excerpt: z
      .string()
      .nullable()
      .meta({ description: 'The start of the response, at most 1,024 characters.', examples: ['ok'] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the latest attempt failed.', examples: [null] }),
  })
  .meta({ id: 'WebhookDelivery', description: 'A delivery of an event to a webhook.' })
export type DeliveryView = z.infer<typeof DeliveryView>

/** The body of a delivery. A test event has no `seq`. */
export const DeliveredEvent = PlatformEvent.extend({
  seq: PlatformEvent.shape.seq.optional(),
}).meta({ id: 'DeliveredEvent', description: 'The body of a delivery.' })
export type DeliveredEvent = z.infer<typeof DeliveredEvent>

export const DeliveryWithEvent = DeliveryView.extend({ event: DeliveredEvent }).meta({
  id: 'WebhookDeliveryWithEvent',
  description: 'A delivery with its event.',
})

const DELIVERY_PAGE_LIMIT = 100
export const DeliveryQuery = z.strictObject({
  before: idOf('delivery').optional().meta({ description: 'Returns only deliveries older than this one.' }),
  status: DeliveryStatus.optional(),
  limit: queryInteger(1, DELIVERY_PAGE_LIMIT).default(50),
})

export const ReplaySince = z
  .strictObject({
    since: z.iso
      .datetime({ offset: true })
      .meta({ description: 'Replays events since this time.', examples: ['2026-11-20T09:00:00Z'] })
      .transform((text) => new Date(text)),
  })
  .meta({ id: 'ReplayEvents', description: 'The time since which undelivered events are replayed.' })
