import { MultiSelect, TextInput } from '@mantine/core'
import { eventTypes, MAX_EVENT_FILTERS } from '@wheelhouse/protocol'

export interface WebhookValues {
  readonly url: string
  readonly types: string[]
  readonly description: string
}
export const webhookFields = ['url', 'types', 'description'] as const

const families = [...new Set(eventTypes.map((type) => `${type.slice(0, type.indexOf('.'))}.*`))]
const choices = [
  { group: 'Many', items: [{ value: '*', label: '* (all events)' }, ...families] },
  { group: 'Single kinds', items: [...eventTypes] },
]

interface Props {
  readonly values: WebhookValues
  readonly errors: Partial<Record<keyof WebhookValues, string>>
  readonly onChange: (part: Partial<WebhookValues>) => void
}

/** Where events are sent to, and which. */
export const WebhookFields = ({ values, errors, onChange }: Props) => (
  <>
    <TextInput
      label="Address"
      description="An https URL that everybody can reach"
      type="url"
      required
      value={values.url}
      error={errors.url}
      onChange={(event) => onChange({ url: event.currentTarget.value })}
      data-autofocus
    />
    <MultiSelect
      label="Events"
      description="A family such as session.* takes kinds that come later, too"
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
      label="Description"
      value={values.description}
      error={errors.description}
      onChange={(event) => onChange({ description: event.currentTarget.value })}
    />
  </>
)

/** Filters that a program has set and this list lacks: shown, and kept unless they are taken out. */
function unknownOf(types: readonly string[]) {
  const known = new Set(['*', ...families, ...eventTypes])
  const items = types.filter((type) => !known.has(type))
  return items.length > 0 ? [{ group: 'Others', items }] : []
}

/** As the platform takes them. */
export const bodyOf = ({ url, types, description }: WebhookValues) => ({
  url: url.trim(),
  types,
  description: description.trim() || null,
})
