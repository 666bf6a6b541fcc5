import { Button, Code, Group, Modal, SegmentedControl, Select, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { DataTable, MoreButton } from '../base/data-table.tsx'
import { DialogButtons } from '../base/form.tsx'
import { shortList } from '../base/format.ts'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { StateLabel } from '../status/state-label.tsx'
import { deliveryStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import {
  type Delivery,
  type DeliveryStatus,
  useDeliveries,
  useDelivery,
  useWebhookChange,
  type Webhook,
} from './queries.ts'

const choices = [
  { value: '', label: t('webhooks.deliveries.all') },
  { value: 'PENDING', label: t('webhooks.deliveries.pending') },
  { value: 'DELIVERED', label: t('webhooks.deliveries.delivered') },
  { value: 'FAILED', label: t('webhooks.deliveries.failed') },
]

/** Lists the deliveries of a webhook, with buttons to resend them. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [status, setStatus] = useState('')
  const query = useDeliveries(webhook.id, (status || undefined) as DeliveryStatus | undefined)
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
        empty={
          <Empty
            title={t(status === '' ? 'webhooks.deliveries.emptyTitle' : 'webhooks.deliveries.noMatch')}
          />
        }
      >
        {(deliveries) => (
          <>
            <DataTable
              label={t('webhooks.deliveries.label')}
              minWidth={680}
              columns={[
                t('webhooks.deliveries.sent'),
                t('webhooks.deliveries.event'),
                t('webhooks.deliveries.status'),
                t('webhooks.deliveries.response'),
                t('webhooks.deliveries.details'),
              ]}
            >
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

const COLUMNS = 5

const shapes = { PENDING: 'delayed', DELIVERED: 'live', FAILED: 'blind' } as const

interface Props {
  readonly delivery: Delivery
  readonly webhook: Webhook
}

/** Shows a delivery, with request and response on demand. */
function DeliveryRow({ delivery, webhook }: Props) {
  const [opened, { toggle }] = useDisclosure(false)
  return (
    <>
      <Table.Tr data-delivery={delivery.id}>
        <Table.Td>
          <Time at={delivery.attempted_at ?? delivery.created_at} exact />
        </Table.Td>
        <Table.Td>
          <Code>{delivery.type}</Code>
        </Table.Td>
        <Table.Td>
          <StateLabel shape={shapes[delivery.status]}>{deliveryStatusTexts[delivery.status]}</StateLabel>
          {delivery.next_attempt_at && delivery.attempts > 0 && (
            <Note>
              {textParts('webhooks.delivery.nextAttempt', {
                time: <Time at={delivery.next_attempt_at} />,
              })}
            </Note>
          )}
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{resultText(delivery)}</Table.Td>
        <Table.Td>
          <Button
            variant="default"
            size="xs"
            onClick={toggle}
            aria-expanded={opened}
            aria-label={t(opened ? 'webhooks.delivery.hideLabel' : 'webhooks.delivery.showLabel', {
              event: delivery.type,
            })}
          >
            {t(opened ? 'webhooks.delivery.hide' : 'webhooks.delivery.show')}
          </Button>
        </Table.Td>
      </Table.Tr>
      {opened && (
        <Table.Tr>
          <Table.Td colSpan={COLUMNS}>
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

/** Returns the result of the latest attempt. */
export function resultText({ response_status, error, duration_ms, attempts }: Delivery): string {
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

function Details({ delivery, webhook }: Props) {
  const { rest } = usePlatform()
  const path = { id: webhook.id, delivery_id: delivery.id }
  const query = useDelivery(webhook.id, delivery.id)
  const resend = useWebhookChange(() =>
    answerOf(rest.POST('/api/webhooks/{id}/deliveries/{delivery_id}/replay', { params: { path } })),
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
          <Button
            variant="default"
            size="xs"
            loading={resend.isPending}
            onClick={() => resend.mutate(undefined)}
          >
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

/** Resends failed and missed events after an outage of the receiver. */
function ReplayMissed({ webhook }: { webhook: Webhook }) {
  const { rest } = usePlatform()
  const [opened, { open, close }] = useDisclosure(false)
  const [hours, setHours] = useState('24')
  const replay = useWebhookChange(() =>
    answerOf(
      rest.POST('/api/webhooks/{id}/replay', {
        params: { path: { id: webhook.id } },
        body: { since: new Date(Date.now() - Number(hours) * HOUR_MS).toISOString() },
      }),
    ),
  )
  const result = replay.data
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        {t('webhooks.replay.title')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('webhooks.replay.title')}
        onExitTransitionEnd={replay.reset}
      >
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
            {result && t('webhooks.replay.resending', { count: result.replayed })}
            {result?.more && ` ${t('webhooks.replay.more')}`}
          </Text>
          <Problem error={replay.error} />
          <DialogButtons
            onCancel={close}
            cancelLabel={t('common.close')}
            loading={replay.isPending}
            onClick={() => replay.mutate(undefined)}
          >
            {t('webhooks.replay.resend')}
          </DialogButtons>
        </Stack>
      </Modal>
    </>
  )
}
