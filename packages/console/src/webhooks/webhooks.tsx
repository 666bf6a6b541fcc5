import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { DataTable } from '../ui/data-table.tsx'
import { LinkAnchor } from '../ui/links.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { NewWebhook } from './new-webhook.tsx'
import { useWebhooks, type Webhook } from './queries.ts'
import { WebhookBadge } from './webhook-state.tsx'

/** Lists and creates webhooks. */
export function Webhooks() {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Stack>
      <Group justify="space-between">
        <Text c="dimmed" size="sm">
          Sends events about your sessions and robots to your servers.
        </Text>
        <Button onClick={open}>Add webhook</Button>
      </Group>
      <NewWebhook opened={opened} onClose={close} />
      <QueryView
        query={useWebhooks()}
        isEmpty={({ webhooks }) => webhooks.length === 0}
        empty={<Empty title="No webhooks yet" />}
      >
        {({ webhooks }) => (
          <DataTable
            label="Webhooks"
            minWidth={560}
            columns={['Address', 'Events', 'Status', 'Last delivery']}
          >
            {webhooks.map((webhook) => (
              <Row key={webhook.id} webhook={webhook} />
            ))}
          </DataTable>
        )}
      </QueryView>
    </Stack>
  )
}

const Row = ({ webhook }: { webhook: Webhook }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <LinkAnchor to="/settings/webhooks/$webhookId" params={{ webhookId: webhook.id }} fw={600}>
        {webhook.url}
      </LinkAnchor>
      {webhook.description && (
        <Text size="sm" c="dimmed">
          {webhook.description}
        </Text>
      )}
    </Table.Td>
    <Table.Td>{webhook.types.includes('*') ? 'all' : webhook.types.join(', ')}</Table.Td>
    <Table.Td>
      <WebhookBadge webhook={webhook} />
    </Table.Td>
    <Table.Td>{webhook.last_success_at ? <Time at={webhook.last_success_at} /> : 'none yet'}</Table.Td>
  </Table.Tr>
)
