import { Badge, Button, Code, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { NewApiKey } from './new-api-key.tsx'

type ApiKey = Schemas['ApiKey']

/** Lists, creates and revokes API keys. */
export function ApiKeys() {
  const { rest } = usePlatform()
  const [opened, { open, close }] = useDisclosure(false)
  const query = useQuery({ queryKey: keys.apiKeys, queryFn: () => answerOf(rest.GET('/api/auth/api-keys')) })
  return (
    <Stack>
      <Group justify="space-between">
        <Text c="dimmed" size="sm">
          {t('settings.apiKeys.note')}
        </Text>
        <Button onClick={open}>{t('settings.apiKeys.create')}</Button>
      </Group>
      <NewApiKey opened={opened} onClose={close} />
      <QueryView
        query={query}
        isEmpty={({ api_keys }) => api_keys.length === 0}
        empty={<Empty title={t('settings.apiKeys.emptyTitle')} />}
      >
        {({ api_keys }) => (
          <DataTable
            label={t('settings.apiKeys.title')}
            minWidth={560}
            columns={[
              t('settings.apiKeys.name'),
              t('settings.apiKeys.key'),
              t('settings.apiKeys.lastUsed'),
              t('settings.apiKeys.expires'),
              t('settings.apiKeys.status'),
            ]}
          >
            {api_keys.map((key) => (
              <Row key={key.id} apiKey={key} />
            ))}
          </DataTable>
        )}
      </QueryView>
    </Stack>
  )
}

function Row({ apiKey }: { apiKey: ApiKey }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const revoke = async () => {
    await answerOf(rest.DELETE('/api/auth/api-keys/{id}', { params: { path: { id: apiKey.id } } }))
    await queries.invalidateQueries({ queryKey: keys.apiKeys })
  }
  return (
    <Table.Tr>
      <Table.Td>{apiKey.name}</Table.Td>
      <Table.Td>
        <Code>
          {apiKey.prefix}…{apiKey.last4}
        </Code>
      </Table.Td>
      <Table.Td>
        {apiKey.last_used_at ? <Time at={apiKey.last_used_at} /> : t('settings.apiKeys.neverUsed')}
      </Table.Td>
      <Table.Td>
        {apiKey.expires_at ? <Time at={apiKey.expires_at} /> : t('settings.apiKeys.neverExpires')}
      </Table.Td>
      <Table.Td>
        {apiKey.revoked_at ? (
          <Badge color="gray.7">{t('settings.apiKeys.revoked')}</Badge>
        ) : (
          <ConfirmButton
            variant="default"
            size="xs"
            question={t('settings.apiKeys.revokeQuestion', { name: apiKey.name })}
            consequence={t('settings.apiKeys.revokeConsequence')}
            confirmLabel={t('settings.apiKeys.revoke')}
            onConfirm={revoke}
            aria-label={t('settings.apiKeys.revokeLabel', { name: apiKey.name })}
          >
            {t('settings.apiKeys.revoke')}
          </ConfirmButton>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
