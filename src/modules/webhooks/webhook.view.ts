import type { Selectable } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { DeliveredEvent, DeliveryView, WebhookView } from './webhook.schema.ts'

export type WebhookRow = Selectable<Tables['webhooks']>
export type DeliveryRow = Selectable<Tables['webhook_deliveries']>

export const webhookView = (row: WebhookRow, now: Date): WebhookView => ({
  id: row.id,
  url: row.url,
  description: row.description,
  types: row.types,
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  disabled_at: iso(row.disabled_at),
  failing_since: iso(row.failing_since),
  last_success_at: iso(row.last_success_at),
  old_secret_until: row.old_secret_until && row.old_secret_until > now ? iso(row.old_secret_until) : null,
  created_at: iso(row.created_at),
})

export const deliveryView = (row: DeliveryRow): DeliveryView => ({
  id: row.id,
  event_id: row.event_id,
  type: row.type,
  seq: row.seq,
  status: row.status,
  attempts: row.attempts,
  created_at: iso(row.created_at),
  attempted_at: iso(row.attempted_at),
  next_attempt_at: iso(row.next_attempt_at),
  settled_at: iso(row.settled_at),
  duration_ms: row.duration_ms,
  response_status: row.response_status,
  response_excerpt: row.response_excerpt,
  error: row.error,
})

/** Returns the body of a delivery, the same at every attempt. */
export const deliveredEvent = (row: DeliveryRow): DeliveredEvent => ({
  id: row.event_id,
  ...(row.seq !== null && { seq: row.seq }),
  type: row.type,
  created_at: iso(row.occurred_at),
  data: row.data,
})
