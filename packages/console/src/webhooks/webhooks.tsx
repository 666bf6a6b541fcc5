import { Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { eventTypes, MAX_EVENT_FILTERS } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { type OneTimeSecret, SecretDialog } from '../base/secret.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import { usePages, useRead, useWrite } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { t } from '../texts/texts.ts'

export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['WebhookDelivery']

const columns: readonly TableColumn<Webhook>[] = [
  [
    t('webhooks.list.address'),
    ({ id, url, description }) => (
      <>
        <LinkAnchor to="/settings/webhooks/$webhookId" params={{ webhookId: id }} fw={600}>
          {url}
        </LinkAnchor>
        {description && <Note>{description}</Note>}
      </>
    ),
    { style: { overflowWrap: 'anywhere' } },
  ],
  [
    t('webhooks.list.events'),
    ({ types }) => (types.includes('*') ? t('webhooks.list.allEvents') : types.join(', ')),
  ],
  [t('webhooks.list.status'), (webhook) => <WebhookLabel webhook={webhook} />],
  [
    t('webhooks.list.lastDelivery'),
    ({ last_success_at: at }) => (at ? <Time at={at} /> : t('webhooks.list.never')),
  ],
]

export function Webhooks() {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Stack>
      <Group justify="space-between">
        <Note>{t('webhooks.list.note')}</Note>
        <Button variant="default" onClick={open}>
          {t('webhooks.list.add')}
        </Button>
      </Group>
      <NewWebhook opened={opened} onClose={close} />
      <QueryView
        query={useWebhooks()}
        isEmpty={({ webhooks }) => webhooks.length === 0}
        empty={<Empty title={t('webhooks.list.emptyTitle')} />}
      >
        {({ webhooks }) => (
          <RowTable label={t('webhooks.list.label')} minWidth={560} columns={columns} rows={webhooks} />
        )}
      </QueryView>
    </Stack>
  )
}

const empty = { url: '', types: ['*'], description: '' }

function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const create = useWrite(
    (rest, values: typeof empty) => rest.POST('/api/webhooks', { body: bodyOf(values) }),
    { refresh: [keys.webhooks] },
  )
  const fields = useFields(empty, create.error)
  const forget = () => {
    create.reset()
    fields.setValues(empty)
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      onClosed={forget}
      title={t('webhooks.new.title')}
      shown={create.data && toOneTimeSecret(t('webhooks.new.secretTitle'), create.data)}
    >
      <Form onSubmit={() => create.mutate(fields.values)}>
        <Text size="sm">{t('webhooks.new.note')}</Text>
        <WebhookFields {...fields} />
        {!fields.errors && <Problem error={create.error} />}
        <DialogButtons onCancel={onClose} loading={create.isPending}>
          {t('webhooks.new.add')}
        </DialogButtons>
      </Form>
    </SecretDialog>
  )
}

const groups = [...new Set(eventTypes.map((type) => `${type.slice(0, type.indexOf('.'))}.*`))]
const choices = [
  {
    group: t('webhooks.fields.groups'),
    items: [{ value: '*', label: t('webhooks.fields.allEvents') }, ...groups],
  },
  { group: t('webhooks.fields.singleEvents'), items: [...eventTypes] },
]

type FieldsProps = Pick<ReturnType<typeof useFields<typeof empty>>, 'values' | 'field'>

/** Renders the fields of a webhook: address, events and description. */
export const WebhookFields = ({ values: { types }, field }: FieldsProps) => (
  <>
    <TextInput
      label={t('webhooks.fields.address')}
      description={t('webhooks.fields.addressNote')}
      type="url"
      required
      {...field('url')}
      data-autofocus
    />
    <MultiSelect
      label={t('webhooks.fields.events')}
      description={t('webhooks.fields.eventsNote')}
      required
      searchable
      hidePickedOptions
      maxValues={MAX_EVENT_FILTERS}
      data={[...choices, ...unknownOf(types)]}
      {...field('types')}
    />
    <TextInput label={t('webhooks.fields.description')} {...field('description')} />
  </>
)

/** Returns filters that were set over the API and are not in the list, so that saving keeps them. */
function unknownOf(types: readonly string[]) {
  const known = new Set(['*', ...groups, ...eventTypes])
  const items = types.filter((type) => !known.has(type))
  return items.length > 0 ? [{ group: t('webhooks.fields.other'), items }] : []
}

export const bodyOf = ({ url, types, description }: typeof empty) => ({
  url: url.trim(),
  types,
  description: description.trim() || null,
})

export function WebhookLabel({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <StateLabel shape="off">{t('webhooks.state.disabled')}</StateLabel>
  return webhook.failing_since ? (
    <StateLabel shape="delayed">{t('webhooks.state.failing')}</StateLabel>
  ) : (
    <StateLabel shape="live">{t('webhooks.state.enabled')}</StateLabel>
  )
}

export const toOneTimeSecret = (title: string, { secret }: { secret: string }): OneTimeSecret => ({
  title,
  note: t('webhooks.secret.onceNote'),
  label: t('webhooks.secret.label'),
  value: secret,
})

/** No event announces the progress of a delivery, so the page polls, faster while one is in progress. */
const POLL_INTERVAL_MS = 15_000
const POLL_PENDING_MS = 1_500
const POLL_TEST_MS = 500
/** A delivery whose next attempt is later than this is not in progress. */
const SOON_MS = 30_000

export const webhookKey = (id: string) => [...keys.webhooks, id] as const

export const useWebhooks = () =>
  useRead(keys.webhooks, (rest) => rest.GET('/api/webhooks'), { refetchInterval: POLL_INTERVAL_MS })

/** Queries the deliveries of a webhook page by page, newest first. */
export function useDeliveries(id: string, status: Delivery['status'] | undefined) {
  const pollMs = (pages: readonly (readonly Delivery[])[]) =>
    pages.flat().some(isInProgress) ? POLL_PENDING_MS : POLL_INTERVAL_MS
  const queryKey = [...webhookKey(id), 'deliveries', status ?? 'all']
  return usePages(queryKey, { limit: 25, pollMs }, async (rest, page) => {
    const params = { path: { id }, query: { ...page, status } }
    return (await answerOf(rest.GET('/api/webhooks/{id}/deliveries', { params }))).deliveries
  })
}

const isInProgress = ({ next_attempt_at: at }: Delivery): boolean =>
  at !== null && Date.parse(at) < Date.now() + SOON_MS

/** Queries one delivery. Polls while an attempt is running or due soon. */
export function useDelivery(id: string, delivery_id: string) {
  const params = { path: { id, delivery_id } }
  return useRead(
    [...webhookKey(id), 'delivery', delivery_id],
    (rest) => rest.GET('/api/webhooks/{id}/deliveries/{delivery_id}', { params }),
    { refetchInterval: ({ state: { data } }) => (data && isInProgress(data) ? POLL_TEST_MS : false) },
  )
}
