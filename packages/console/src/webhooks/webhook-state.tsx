import { Badge } from '@mantine/core'
import { webhookOffTexts } from '@wheelhouse/protocol'
import { Time } from '../ui/time.tsx'
import type { Webhook } from './queries.ts'

/** Shows whether a webhook is enabled, disabled or failing. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <Badge color="gray.7">Disabled</Badge>
  return webhook.failing_since ? (
    <Badge color="orange.9">Failing</Badge>
  ) : (
    <Badge color="teal.9">Enabled</Badge>
  )
}

/** Describes the status of a webhook. */
export function WebhookStatusText({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason, failing_since, last_success_at } = webhook
  if (!enabled)
    return `${webhookOffTexts[disabled_reason ?? 'user']} No events are sent while it is disabled.`
  if (failing_since) {
    return (
      <>
        No delivery has succeeded since <Time at={failing_since} exact />. The platform retries for several
        days, then disables it.
      </>
    )
  }
  if (!last_success_at) return 'No deliveries yet. Send a test to check the address.'
  return (
    <>
      Last successful delivery: <Time at={last_success_at} />.
    </>
  )
}
