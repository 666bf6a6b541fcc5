import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** Why a webhook is disabled: by its owner, after days of failures, or by a 410 Gone response. */
export const DisabledReason = z.enum(['user', 'failing', 'gone'])
export type DisabledReason = z.infer<typeof DisabledReason>

/** A user's subscription of events to a URL, and the state of its deliveries. */
export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    id: p.uuid().primary(),
    /** The organization; that of a person is the personal one. */
    user: () => referenceTo('Organization').deleteRule('cascade'),
    url: p.text(),
    description: p.text().nullable(),
    /** Event filters; see `filterTakes`. */
    types: p.array().columnType('text[]'),
    /** Encrypted, because signing needs the plain text. */
    secret: p.text(),
    /** The previous secret. It also signs until `oldSecretUntil`. */
    oldSecret: p.text().nullable(),
    oldSecretUntil: p.datetime(3).nullable(),
    enabled: p.boolean().default(true),
    disabledReason: p.enum(DisabledReason.options).nullable(),
    disabledAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** Times of the last success and of the first failure after it. */
    lastSuccessAt: p.datetime(3).nullable(),
    failingSince: p.datetime(3).nullable(),
    /** Number of consecutive failed attempts. */
    failures: p.integer().default(0),
    /** When its earliest delivery is due; null without pending deliveries. */
    dueAt: p.datetime(3).nullable(),
    /** No attempt starts before this time, after a failure or a Retry-After. */
    pausedUntil: p.datetime(3).nullable(),
  },
})
export type Webhook = InferEntity<typeof Webhook>

export const DeliveryStatus = z.enum(['PENDING', 'DELIVERED', 'FAILED'])
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** A delivery of an event to a webhook. It copies the event, because the stream may delete it earlier. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    number: p.bigint('number').primary().autoincrement(),
    id: p.uuid(),
    webhook: () => p.manyToOne(Webhook).mapToPk().deleteRule('cascade'),
    /** The `webhook-id`, the same in all attempts and replays. */
    eventId: p.uuid(),
    /** The event's number in the user's stream; null for a test event. */
    seq: p.bigint('number').nullable(),
    type: p.text(),
    data: p.json<Record<string, unknown>>(),
    occurredAt: p.datetime(3),
    createdAt: p.datetime(3),
    status: p.enum(DeliveryStatus.options).default('PENDING'),
    /** Number of started attempts. */
    attempts: p.integer().default(0),
    nextAttemptAt: p.datetime(3).nullable(),
    settledAt: p.datetime(3).nullable(),
    /** The result of the latest attempt. */
    attemptedAt: p.datetime(3).nullable(),
    durationMs: p.integer().nullable(),
    responseStatus: p.integer().nullable(),
    responseExcerpt: p.text().nullable(),
    error: p.text().nullable(),
  },
})
export type WebhookDelivery = InferEntity<typeof WebhookDelivery>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Webhook | typeof WebhookDelivery> {}
}
