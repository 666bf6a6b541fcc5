import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { SecretDialog } from '../ui/secret.tsx'
import { Problem } from '../ui/states.tsx'

const DAY_MS = 86_400_000
const lifetimes = [
  { value: '30', label: t('settings.newApiKey.days', { days: 30 }) },
  { value: '90', label: t('settings.newApiKey.days', { days: 90 }) },
  { value: '365', label: t('settings.newApiKey.year') },
  { value: '', label: t('settings.newApiKey.never') },
]

/** Creates an API key and shows it once. */
export function NewApiKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
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
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t('settings.newApiKey.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </SecretDialog>
  )
}
