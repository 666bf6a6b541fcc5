import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { DataTable } from '../ui/data-table.tsx'
import { MoreButton } from '../ui/more-button.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { DeliveryRow } from './delivery-row.tsx'
import { type DeliveryStatus, useDeliveries, type Webhook } from './queries.ts'
import { ReplayMissed } from './replay-missed.tsx'

const choices = [
  { value: '', label: 'All' },
  { value: 'PENDING', label: 'Pending' },
  { value: 'DELIVERED', label: 'Delivered' },
  { value: 'FAILED', label: 'Failed' },
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
          aria-label="Delivery status"
          size="xs"
        />
        {webhook.enabled && <ReplayMissed webhook={webhook} />}
      </Group>
      <QueryView
        query={query}
        isEmpty={(deliveries) => deliveries.length === 0}
        empty={<Empty title={status === '' ? 'No deliveries yet' : 'No matching deliveries'} />}
      >
        {(deliveries) => (
          <>
            <DataTable
              label="Deliveries"
              minWidth={680}
              columns={['Sent', 'Event', 'Status', 'Response', 'Details']}
            >
              {deliveries.map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery} webhook={webhook} />
              ))}
            </DataTable>
            <MoreButton query={query}>Older deliveries</MoreButton>
          </>
        )}
      </QueryView>
      <Text size="sm" c="dimmed">
        Use the webhook-id to detect duplicates.
      </Text>
    </Stack>
  )
}
