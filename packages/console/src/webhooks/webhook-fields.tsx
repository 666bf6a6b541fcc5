import { MultiSelect, TextInput } from '@mantine/core'
import { eventTypes, MAX_EVENT_FILTERS } from '@wheelhouse/protocol'
import type { OneTimeSecret } from '../base/secret.tsx'
import { Time } from '../base/time.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { webhookOffTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import type { Webhook } from './queries.ts'

export interface WebhookValues {
  readonly url: string
  readonly types: string[]
  readonly description: string
}
export const webhookFields = ['url', 'types', 'description'] as const

const groups = [...new Set(eventTypes.map((type) => `${type.slice(0, type.indexOf('.'))}.*`))]
const choices = [
  {
    group: t('webhooks.fields.groups'),
    items: [{ value: '*', label: t('webhooks.fields.allEvents') }, ...groups],
  },
  { group: t('webhooks.fields.singleEvents'), items: [...eventTypes] },
]

interface Props {
  readonly values: WebhookValues
  readonly errors: Partial<Record<keyof WebhookValues, string>>
  readonly onChange: (part: Partial<WebhookValues>) => void
}

/** Renders the fields of a webhook: address, events and description. */
export const WebhookFields = ({ values, errors, onChange }: Props) => (
  <>
    <TextInput
      label={t('webhooks.fields.address')}
      description={t('webhooks.fields.addressNote')}
      type="url"
      required
      value={values.url}
      error={errors.url}
      onChange={(event) => onChange({ url: event.currentTarget.value })}
      data-autofocus
    />
    <MultiSelect
      label={t('webhooks.fields.events')}
      description={t('webhooks.fields.eventsNote')}
      required
      searchable
      hidePickedOptions
      maxValues={MAX_EVENT_FILTERS}
      data={[...choices, ...unknownOf(values.types)]}
      value={values.types}
      error={errors.types}
      onChange={(types) => onChange({ types })}
    />
    <TextInput
      label={t('webhooks.fields.description')}
      value={values.description}
      error={errors.description}
      onChange={(event) => onChange({ description: event.currentTarget.value })}
    />
  </>
)

/** Returns filters that were set over the API and are not in the list, so that saving keeps them. */
function unknownOf(types: readonly string[]) {
  const known = new Set(['*', ...groups, ...eventTypes])
  const items = types.filter((type) => !known.has(type))
  return items.length > 0 ? [{ group: t('webhooks.fields.other'), items }] : []
}

/** Returns the request body. */
export const bodyOf = ({ url, types, description }: WebhookValues) => ({
  url: url.trim(),
  types,
  description: description.trim() || null,
})

/** Shows whether a webhook is enabled, disabled or failing. */
export function WebhookLabel({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <StateLabel shape="off">{t('webhooks.state.disabled')}</StateLabel>
  return webhook.failing_since ? (
    <StateLabel shape="delayed">{t('webhooks.state.failing')}</StateLabel>
  ) : (
    <StateLabel shape="live">{t('webhooks.state.enabled')}</StateLabel>
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

/** Returns the secret of a webhook with an explanation. */
export const toOneTimeSecret = (title: string, { secret }: { secret: string }): OneTimeSecret => ({
  title,
  note: t('webhooks.secret.onceNote'),
  label: t('webhooks.secret.label'),
  value: secret,
})
