import { Badge } from '@mantine/core'
import { webhookOffTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { Time } from '../ui/time.tsx'
import type { Webhook } from './queries.ts'

/** Shows whether a webhook is enabled, disabled or failing. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <Badge color="gray.7">{t('webhooks.state.disabled')}</Badge>
  return webhook.failing_since ? (
    <Badge color="orange.9">{t('webhooks.state.failing')}</Badge>
  ) : (
    <Badge color="teal.9">{t('webhooks.state.enabled')}</Badge>
  )
}

/** Describes the status of a webhook. */
export function WebhookStatusText({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason, failing_since, last_success_at } = webhook
  if (!enabled)
    return t('webhooks.state.disabledText', { reason: webhookOffTexts[disabled_reason ?? 'user'] })
  if (failing_since) {
    return textParts('webhooks.state.failingText', { time: <Time at={failing_since} exact /> })
  }
  if (!last_success_at) return t('webhooks.state.unused')
  return textParts('webhooks.state.lastSuccess', { time: <Time at={last_success_at} /> })
}
