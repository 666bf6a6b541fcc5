import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { t } from '../texts/texts.ts'
import { DataTable, MoreButton } from '../ui/data-table.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { DeliveryRow } from './delivery-row.tsx'
import { type DeliveryStatus, useDeliveries, type Webhook } from './queries.ts'
import { ReplayMissed } from './replay-missed.tsx'

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
      <Text size="sm" c="dimmed">
        {t('webhooks.deliveries.note')}
      </Text>
    </Stack>
  )
}
