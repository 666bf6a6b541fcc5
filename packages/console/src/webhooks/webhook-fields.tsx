import { MultiSelect, TextInput } from '@mantine/core'
import { eventTypes, MAX_EVENT_FILTERS } from '@wheelhouse/protocol'
import { t } from '../texts/texts.ts'

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
