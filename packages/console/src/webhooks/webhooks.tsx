import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { t } from '../texts/texts.ts'
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
          {t('webhooks.list.note')}
        </Text>
        <Button onClick={open}>{t('webhooks.list.add')}</Button>
      </Group>
      <NewWebhook opened={opened} onClose={close} />
      <QueryView
        query={useWebhooks()}
        isEmpty={({ webhooks }) => webhooks.length === 0}
        empty={<Empty title={t('webhooks.list.emptyTitle')} />}
      >
        {({ webhooks }) => (
          <DataTable
            label={t('webhooks.list.label')}
            minWidth={560}
            columns={[
              t('webhooks.list.address'),
              t('webhooks.list.events'),
              t('webhooks.list.status'),
              t('webhooks.list.lastDelivery'),
            ]}
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
    <Table.Td>
      {webhook.types.includes('*') ? t('webhooks.list.allEvents') : webhook.types.join(', ')}
    </Table.Td>
    <Table.Td>
      <WebhookBadge webhook={webhook} />
    </Table.Td>
    <Table.Td>
      {webhook.last_success_at ? <Time at={webhook.last_success_at} /> : t('webhooks.list.never')}
    </Table.Td>
  </Table.Tr>
)
