import { Button, Code, Group, Select, Stack, Table, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable } from '../base/data-table.tsx'
import { DialogButtons } from '../base/form.tsx'
import { SecretDialog } from '../base/secret.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { t } from '../texts/texts.ts'

type ApiKey = Schemas['ApiKey']

/** Lists, creates and revokes API keys. */
export function ApiKeys() {
  const [opened, { open, close }] = useDisclosure(false)
  const query = useRead(keys.apiKeys, (rest) => rest.GET('/api/auth/api-keys'))
  return (
    <Stack>
      <Group justify="space-between">
        <Note>{t('settings.apiKeys.note')}</Note>
        <Button variant="default" onClick={open}>
          {t('settings.apiKeys.create')}
        </Button>
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
          <StateLabel shape="off">{t('settings.apiKeys.revoked')}</StateLabel>
        ) : (
          <ConfirmButton
            variant="default"
            size="xs"
            question={t('settings.apiKeys.revokeQuestion', { name: apiKey.name })}
            consequence={t('settings.apiKeys.revokeConsequence')}
            confirmLabel={t('settings.apiKeys.revoke')}
            onConfirm={revoke}
            aria-label={t('settings.apiKeys.revokeLabel', { name: apiKey.name })}
          />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const DAY_MS = 86_400_000
const lifetimes = [
  { value: '30', label: t('settings.newApiKey.days', { days: 30 }) },
  { value: '90', label: t('settings.newApiKey.days', { days: 90 }) },
  { value: '365', label: t('settings.newApiKey.year') },
  { value: '', label: t('settings.newApiKey.never') },
]

/** Creates an API key and shows it once. */
function NewApiKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const create = useMutation({
    mutationFn: () => {
      const expires_at = days ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null
      return answerOf(rest.POST('/api/auth/api-keys', { body: { name: name.trim(), expires_at } }))
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.apiKeys }),
  })
  const forget = () => {
    create.reset()
    setName('')
  }
  const created = create.data
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      onClosed={forget}
      title={t('settings.apiKeys.create')}
      shown={
        created && {
          title: t('settings.newApiKey.title'),
          note: t('settings.newApiKey.onceNote'),
          label: created.name,
          value: created.key,
        }
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <Stack>
          <TextInput
            label={t('settings.newApiKey.name')}
            description={t('settings.newApiKey.nameNote')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            data-autofocus
          />
          <Select
            label={t('settings.newApiKey.lifetime')}
            data={lifetimes}
            value={days}
            onChange={(value) => setDays(value ?? '')}
            allowDeselect={false}
          />
          <Problem error={create.error} />
          <DialogButtons onCancel={onClose} loading={create.isPending}>
            {t('settings.newApiKey.create')}
          </DialogButtons>
        </Stack>
      </form>
    </SecretDialog>
  )
}
