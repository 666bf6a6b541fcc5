import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'
import { type Piece, painted } from '../text.ts'
import { statusPiece, when } from '../views.ts'

type Webhook = Schemas['Webhook']
type Delivery = Schemas['WebhookDelivery']

/** Whether it is on, and why not. */
export function stateOf({ enabled, disabled_reason, failing_since }: Webhook): Piece {
  if (!enabled) return painted('red', `off: ${disabled_reason ?? 'unknown'}`)
  return failing_since === null ? 'on' : painted('yellow', `failing since ${when(failing_since)}`)
}

export function showWebhook(out: Output, webhook: Webhook): void {
  out.record([
    ['Id', webhook.id],
    ['URL', webhook.url],
    ['Events', webhook.types.join(', ')],
    ['Description', webhook.description ?? undefined],
    ['State', stateOf(webhook)],
    ['Last success', when(webhook.last_success_at)],
    ['Old secret until', when(webhook.old_secret_until)],
    ['Registered', when(webhook.created_at)],
  ])
}

/** The secret alone on standard output, so that it can be piped on. */
export function showSecret(out: Output, webhook: Schemas['WebhookWithSecret'], words: string): void {
  out.result(webhook, () => {
    out.note(words)
    out.note(painted('bold', 'Its secret, shown this once:'))
    out.line(webhook.secret)
  })
}

/** What the newest attempt came to. */
export function cameOf({ response_status, error }: Delivery): string | undefined {
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
    ['Outcome', cameOf(delivery)],
    ['Answer', delivery.response_excerpt ?? undefined],
    ['Took', duration_ms === null ? undefined : `${duration_ms} ms`],
    ['Next attempt', next_attempt_at === null ? undefined : when(next_attempt_at)],
    ['Made', when(delivery.created_at)],
  ])
}
