import { Badge, Button, Code, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { deliveryStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { Problem, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { type Delivery, useDelivery, useWebhookChange, type Webhook } from './queries.ts'

const COLUMNS = 5

const colors = { PENDING: 'orange.9', DELIVERED: 'teal.9', FAILED: 'red.9' } as const

interface Props {
  readonly delivery: Delivery
  readonly webhook: Webhook
}

/** Shows a delivery, with request and response on demand. */
export function DeliveryRow({ delivery, webhook }: Props) {
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
          <Badge color={colors[delivery.status]}>{deliveryStatusTexts[delivery.status]}</Badge>
          {delivery.next_attempt_at && delivery.attempts > 0 && (
            <Text size="sm" c="dimmed">
              {textParts('webhooks.delivery.nextAttempt', {
                time: <Time at={delivery.next_attempt_at} />,
              })}
            </Text>
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

const list = new Intl.ListFormat(language, { type: 'unit', style: 'short' })
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
  return list.format([answer, ...time, ...count])
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
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Code>
  </div>
)
