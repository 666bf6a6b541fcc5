import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'
import { type Piece, styled } from '../text.ts'
import { formatTime, statusPiece } from '../views.ts'

type Webhook = Schemas['Webhook']
type Delivery = Schemas['WebhookDelivery']

/** Returns whether a webhook is enabled, and why not. */
export function stateOf({ enabled, disabled_reason, failing_since }: Webhook): Piece {
  if (!enabled) return styled('red', `off: ${disabled_reason ?? 'unknown'}`)
  return failing_since === null ? 'on' : styled('yellow', `failing since ${formatTime(failing_since)}`)
}

export function showWebhook(out: Output, webhook: Webhook): void {
  out.record([
    ['Id', webhook.id],
    ['URL', webhook.url],
    ['Events', webhook.types.join(', ')],
    ['Description', webhook.description ?? undefined],
    ['State', stateOf(webhook)],
    ['Last success', formatTime(webhook.last_success_at)],
    ['Old secret until', formatTime(webhook.old_secret_until)],
    ['Registered', formatTime(webhook.created_at)],
  ])
}

/** Prints a webhook with its secret. Standard output contains only the secret, so that you can pipe it. */
export function showSecret(out: Output, webhook: Schemas['WebhookWithSecret'], notice: string): void {
  out.result(webhook, () => {
    out.note(notice)
    out.note(styled('bold', 'Webhook secret, shown only once:'))
    out.line(webhook.secret)
  })
}

/** Returns the outcome of the newest attempt. */
export function deliveryOutcome({ response_status, error }: Delivery): string | undefined {
  if (error !== null) return error
  return response_status === null ? undefined : `answered ${response_status}`
}

export function showDelivery(out: Output, delivery: Delivery): void {
  const { duration_ms, next_attempt_at } = delivery
  out.record([
    ['Id', delivery.id],
    [
      'Event',
      `${delivery.type}${delivery.seq === null ? '' : `, number ${delivery.seq}`} (${delivery.event_id})`,
    ],
    ['Status', statusPiece(delivery.status)],
    ['Attempts', delivery.attempts],
    ['Outcome', deliveryOutcome(delivery)],
    ['Response', delivery.response_excerpt ?? undefined],
    ['Duration', duration_ms === null ? undefined : `${duration_ms} ms`],
    ['Next attempt', next_attempt_at === null ? undefined : formatTime(next_attempt_at)],
    ['Created', formatTime(delivery.created_at)],
  ])
}
