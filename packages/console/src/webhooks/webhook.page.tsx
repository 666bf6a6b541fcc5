import {
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  SegmentedControl,
  Select,
  Stack,
  Table,
  Text,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { type ReactNode, useEffect, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable, MoreButton } from '../base/data-table.tsx'
import { DialogButtons, Form, FormFooter, useFields } from '../base/form.tsx'
import { shortList } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { SecretDialog } from '../base/secret.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { type Answer, byId, useRead, useWrite } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { deliveryStatusTexts, webhookOffTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import {
  bodyOf,
  type Delivery,
  toOneTimeSecret,
  useDeliveries,
  useDelivery,
  type Webhook,
  WebhookFields,
  WebhookLabel,
  webhookKey,
} from './webhooks.tsx'

const POLL_INTERVAL_MS = 15_000

/** Changes a webhook and refetches the webhook queries. */
const useWebhookChange = <A extends Answer, V = void>(change: (rest: RestClient, values: V) => Promise<A>) =>
  useWrite(change, { refresh: [keys.webhooks], refreshesOnError: true })

export function WebhookPage() {
  const { webhookId: id } = useParams({ from: '/shell/settings/webhooks/$webhookId' })
  const query = useRead(webhookKey(id), (rest) => rest.GET('/api/webhooks/{id}', byId(id)), {
    refetchInterval: POLL_INTERVAL_MS,
  })
  return (
    <ResourcePage
      query={query}
      kind={t('webhooks.page.kind')}
      back={<LinkButton to="/settings">{t('webhooks.page.all')}</LinkButton>}
    >
      {(webhook) => (
        <Page
          key={webhook.id}
          title={t('webhooks.page.title', { host: new URL(webhook.url).host })}
          description={webhook.description ?? undefined}
          link={['/settings', t('webhooks.page.all')]}
        >
          <Section title={t('webhooks.page.status')}>
            <div>
              <WebhookLabel webhook={webhook} />
            </div>
            <Text>{statusTextOf(webhook)}</Text>
            <SwitchWebhook webhook={webhook} />
            {webhook.enabled && <TestWebhook webhook={webhook} />}
          </Section>
          <Section title={t('webhooks.page.deliveries')}>
            <Deliveries webhook={webhook} />
          </Section>
          <Section title={t('webhooks.page.endpoint')}>
            <WebhookForm webhook={webhook} />
          </Section>
          <Section title={t('webhooks.page.secret')}>
            <Secret webhook={webhook} />
          </Section>
          <Section title={t('webhooks.page.remove')}>
            <RemoveWebhook webhook={webhook} />
          </Section>
        </Page>
      )}
    </ResourcePage>
  )
}

function statusTextOf({ enabled, disabled_reason, failing_since, last_success_at }: Webhook): ReactNode {
  if (!enabled)
    return t('webhooks.state.disabledText', { reason: webhookOffTexts[disabled_reason ?? 'user'] })
  if (failing_since)
    return textParts('webhooks.state.failingText', { time: <Time at={failing_since} exact /> })
  if (!last_success_at) return t('webhooks.state.unused')
  return textParts('webhooks.state.lastSuccess', { time: <Time at={last_success_at} /> })
}

interface Props {
  readonly webhook: Webhook
}

function WebhookForm({ webhook }: Props) {
  const { url, types, description } = webhook
  const save = useWebhookChange((rest, values: { url: string; types: string[]; description: string }) =>
    rest.PATCH('/api/webhooks/{id}', { ...byId(webhook.id), body: bodyOf(values) }),
  )
  const hideSaved = () => save.isSuccess && save.reset()
  const fields = useFields({ url, types, description: description ?? '' }, save.error, hideSaved)
  return (
    <Form onSubmit={() => save.mutate(fields.values)} style={{ maxWidth: '40rem' }}>
      <WebhookFields {...fields} />
      <FormFooter change={save} explained={fields.errors !== undefined} />
    </Form>
  )
}

function TestWebhook({ webhook }: Props) {
  const test = useWebhookChange((rest) => rest.POST('/api/webhooks/{id}/test', byId(webhook.id)))
  return (
    <>
      <Problem error={test.error} />
      <Group>
        <Button loading={test.isPending} onClick={() => test.mutate()}>
          {t('webhooks.test.send')}
        </Button>
        <Text role="status">
          {test.data && <TestOutcome webhookId={webhook.id} deliveryId={test.data.id} />}
        </Text>
      </Group>
    </>
  )
}

function TestOutcome({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }) {
  const { data } = useDelivery(webhookId, deliveryId)
  const queries = useQueryClient()
  // A test has one attempt, counted when it starts. Only the status shows the end.
  const settled = data !== undefined && data.status !== 'PENDING'
  // Refreshes the log and the webhook, which the response may have disabled.
  useEffect(() => {
    if (settled) void queries.invalidateQueries({ queryKey: keys.webhooks })
  }, [settled, queries])
  if (!settled) return t('webhooks.test.sending')
  return t(data.status === 'DELIVERED' ? 'webhooks.test.delivered' : 'webhooks.test.failed', {
    result: resultText(data),
  })
}

function SwitchWebhook({ webhook }: Props) {
  const setEnabled = useWebhookChange((rest, enabled: boolean) =>
    rest.PATCH('/api/webhooks/{id}', { ...byId(webhook.id), body: { enabled } }),
  )
  return (
    <>
      {!webhook.enabled && <Problem error={setEnabled.error} />}
      <Group>
        {webhook.enabled ? (
          <ConfirmButton
            question={t('webhooks.switch.question')}
            consequence={t('webhooks.switch.consequence')}
            confirmLabel={t('webhooks.switch.disable')}
            onConfirm={() => setEnabled.mutateAsync(false)}
          />
        ) : (
          <Button loading={setEnabled.isPending} onClick={() => setEnabled.mutate(true)}>
            {t('webhooks.switch.enable')}
          </Button>
        )}
      </Group>
    </>
  )
}

function Secret({ webhook }: Props) {
  const [opened, { open, close }] = useDisclosure(false)
  const [keepOld, setKeepOld] = useState(true)
  const rotate = useWebhookChange((rest, keep_old: boolean) =>
    rest.POST('/api/webhooks/{id}/rotate-secret', { ...byId(webhook.id), body: { keep_old } }),
  )
  const forget = () => {
    rotate.reset()
    setKeepOld(true)
  }
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        {t('webhooks.secret.note')}{' '}
        {webhook.old_secret_until &&
          textParts('webhooks.secret.oldValid', { time: <Time at={webhook.old_secret_until} exact /> })}
      </Text>
      <Button variant="default" onClick={open}>
        {t('webhooks.secret.replaceSecret')}
      </Button>
      <SecretDialog
        opened={opened}
        onClose={close}
        onClosed={forget}
        title={t('webhooks.secret.question')}
        shown={rotate.data && toOneTimeSecret(t('webhooks.secret.newTitle'), rotate.data)}
      >
        <Stack>
          <Checkbox
            label={t('webhooks.secret.keepOld')}
            description={t('webhooks.secret.keepOldNote')}
            checked={keepOld}
            onChange={(event) => setKeepOld(event.currentTarget.checked)}
            data-autofocus
          />
          <Problem error={rotate.error} />
          <DialogButtons onCancel={close} loading={rotate.isPending} onClick={() => rotate.mutate(keepOld)}>
            {t('webhooks.secret.replace')}
          </DialogButtons>
        </Stack>
      </SecretDialog>
    </Group>
  )
}

function RemoveWebhook({ webhook }: Props) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await answerOf(rest.DELETE('/api/webhooks/{id}', byId(webhook.id)))
    await navigate({ to: '/settings' })
    queries.removeQueries({ queryKey: webhookKey(webhook.id) })
    await queries.invalidateQueries({ queryKey: keys.webhooks })
  }
  return (
    <Group justify="space-between">
      <Text c="dimmed">{t('webhooks.remove.note')}</Text>
      <ConfirmButton
        color="red.9"
        question={t('webhooks.remove.question')}
        consequence={t('webhooks.remove.consequence')}
        confirmLabel={t('webhooks.remove.confirm')}
        onConfirm={remove}
      >
        {t('webhooks.remove.button')}
      </ConfirmButton>
    </Group>
  )
}

const choices = [
  { value: '', label: t('webhooks.deliveries.all') },
  { value: 'PENDING', label: t('webhooks.deliveries.pending') },
  { value: 'DELIVERED', label: t('webhooks.deliveries.delivered') },
  { value: 'FAILED', label: t('webhooks.deliveries.failed') },
]

const columns = [
  t('webhooks.deliveries.sent'),
  t('webhooks.deliveries.event'),
  t('webhooks.deliveries.status'),
  t('webhooks.deliveries.response'),
  t('webhooks.deliveries.details'),
]

function Deliveries({ webhook }: Props) {
  const [status, setStatus] = useState('')
  const query = useDeliveries(webhook.id, (status || undefined) as Delivery['status'] | undefined)
  const empty = t(status === '' ? 'webhooks.deliveries.emptyTitle' : 'webhooks.deliveries.noMatch')
  return (
    <Stack>
      <Group justify="space-between">
        <SegmentedControl
          data={choices}
          value={status}
          onChange={setStatus}
          aria-label={t('webhooks.deliveries.filter')}
          size="xs"
        />
        {webhook.enabled && <ReplayMissed webhook={webhook} />}
      </Group>
      <QueryView
        query={query}
        isEmpty={(deliveries) => deliveries.length === 0}
        empty={<Empty title={empty} />}
      >
        {(deliveries) => (
          <>
            <DataTable label={t('webhooks.deliveries.label')} minWidth={680} columns={columns}>
              {deliveries.map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery} webhook={webhook} />
              ))}
            </DataTable>
            <MoreButton query={query}>{t('webhooks.deliveries.older')}</MoreButton>
          </>
        )}
      </QueryView>
      <Note>{t('webhooks.deliveries.note')}</Note>
    </Stack>
  )
}

const shapes = { PENDING: 'delayed', DELIVERED: 'live', FAILED: 'blind' } as const

function DeliveryRow({ delivery, webhook }: Props & { delivery: Delivery }) {
  const [opened, { toggle }] = useDisclosure(false)
  const { id, type: event, status, attempts, attempted_at, created_at, next_attempt_at } = delivery
  return (
    <>
      <Table.Tr data-delivery={id}>
        <Table.Td>
          <Time at={attempted_at ?? created_at} exact />
        </Table.Td>
        <Table.Td>
          <Code>{event}</Code>
        </Table.Td>
        <Table.Td>
          <StateLabel shape={shapes[status]}>{deliveryStatusTexts[status]}</StateLabel>
          {next_attempt_at && attempts > 0 && (
            <Note>{textParts('webhooks.delivery.nextAttempt', { time: <Time at={next_attempt_at} /> })}</Note>
          )}
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{resultText(delivery)}</Table.Td>
        <Table.Td>
          <Button
            variant="default"
            size="xs"
            onClick={toggle}
            aria-expanded={opened}
            aria-label={t(opened ? 'webhooks.delivery.hideLabel' : 'webhooks.delivery.showLabel', { event })}
          >
            {t(opened ? 'webhooks.delivery.hide' : 'webhooks.delivery.show')}
          </Button>
        </Table.Td>
      </Table.Tr>
      {opened && (
        <Table.Tr>
          <Table.Td colSpan={columns.length}>
            <Details delivery={delivery} webhook={webhook} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

const milliseconds = new Intl.NumberFormat(language, {
  style: 'unit',
  unit: 'millisecond',
  useGrouping: false,
})

function resultText({ response_status, error, duration_ms, attempts }: Delivery): string {
  if (attempts === 0) return t('webhooks.delivery.notSent')
  // The first attempt has begun, and its result is not stored yet.
  if (response_status === null && error === null && duration_ms === null)
    return t('webhooks.delivery.sending')
  const answer =
    response_status === null ? (error ?? t('webhooks.delivery.noResponse')) : String(response_status)
  const time = duration_ms === null ? [] : [milliseconds.format(duration_ms)]
  const count = attempts > 1 ? [t('webhooks.delivery.attempts', { count: attempts })] : []
  return shortList.format([answer, ...time, ...count])
}

function Details({ delivery, webhook }: Props & { delivery: Delivery }) {
  const path = { id: webhook.id, delivery_id: delivery.id }
  const query = useDelivery(webhook.id, delivery.id)
  const resend = useWebhookChange((rest) =>
    rest.POST('/api/webhooks/{id}/deliveries/{delivery_id}/replay', { params: { path } }),
  )
  return (
    <Stack gap="xs">
      <Text size="sm">{t('webhooks.delivery.id', { id: delivery.event_id })}</Text>
      {delivery.error && <Text size="sm">{t('webhooks.delivery.error', { error: delivery.error })}</Text>}
      <QueryView query={query}>
        {({ event }) => (
          <Verbatim label={t('webhooks.delivery.request')} text={JSON.stringify(event, null, 2)} />
        )}
      </QueryView>
      {delivery.response_excerpt && (
        <Verbatim label={t('webhooks.delivery.response')} text={delivery.response_excerpt} />
      )}
      <Problem error={resend.error} />
      {!webhook.enabled && <Text size="sm">{t('webhooks.delivery.enableFirst')}</Text>}
      {webhook.enabled && delivery.status !== 'PENDING' && (
        <Group>
          <Button variant="default" size="xs" loading={resend.isPending} onClick={() => resend.mutate()}>
            {t('webhooks.delivery.resend')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

const Verbatim = ({ label, text }: { label: string; text: string }) => (
  <div>
    <Note>{label}</Note>
    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Code>
  </div>
)

const HOUR_MS = 3_600_000
const spans = [
  { value: '1', label: t('webhooks.replay.hour') },
  { value: '24', label: t('webhooks.replay.day') },
  { value: '168', label: t('webhooks.replay.week') },
]

function ReplayMissed({ webhook }: Props) {
  const [opened, { open, close }] = useDisclosure(false)
  const [hours, setHours] = useState('24')
  const replay = useWebhookChange((rest) => {
    const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString()
    return rest.POST('/api/webhooks/{id}/replay', { ...byId(webhook.id), body: { since } })
  })
  const title = t('webhooks.replay.title')
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        {title}
      </Button>
      <Modal opened={opened} onClose={close} title={title} onExitTransitionEnd={replay.reset}>
        <Stack>
          <Select
            label={t('webhooks.replay.since')}
            description={t('webhooks.replay.sinceNote')}
            data={spans}
            value={hours}
            onChange={(value) => value && setHours(value)}
            allowDeselect={false}
            data-autofocus
          />
          <Text role="status">
            {replay.data && t('webhooks.replay.resending', { count: replay.data.replayed })}
            {replay.data?.more && ` ${t('webhooks.replay.more')}`}
          </Text>
          <Problem error={replay.error} />
          <DialogButtons
            onCancel={close}
            cancelLabel={t('common.close')}
            loading={replay.isPending}
            onClick={() => replay.mutate()}
          >
            {t('webhooks.replay.resend')}
          </DialogButtons>
        </Stack>
      </Modal>
    </>
  )
}
