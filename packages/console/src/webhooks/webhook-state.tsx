import { Badge } from '@mantine/core'
import { webhookOffTexts } from '@wheelhouse/protocol'
import { Time } from '../ui/time.tsx'
import type { Webhook } from './queries.ts'

/** On, off, or in trouble. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <Badge color="gray.7">Off</Badge>
  return webhook.failing_since ? <Badge color="orange.9">Failing</Badge> : <Badge color="teal.9">On</Badge>
}

/** How it goes, in a sentence. */
export function WebhookStatusText({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason, failing_since, last_success_at } = webhook
  if (!enabled) return `${webhookOffTexts[disabled_reason ?? 'user']} What happens meanwhile is not sent.`
  if (failing_since) {
    return (
      <>
        Nothing has arrived there since <Time at={failing_since} exact />. It is tried again for days, then
        the webhook is switched off.
      </>
    )
  }
  if (!last_success_at) return 'Nothing was sent yet. Send a test to see whether it arrives.'
  return (
    <>
      The last delivery arrived <Time at={last_success_at} />.
    </>
  )
}
