import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { Problem } from '../ui/states.tsx'

const DAY_MS = 86_400_000
const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
  { value: '', label: 'Never' },
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
      title="Create API key"
      shown={
        created && {
          title: 'Your new API key',
          note: 'Copy it now. You will not see it again.',
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
            label="Name"
            description="For example, the program that uses it"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            data-autofocus
          />
          <Select
            label="Expires after"
            data={lifetimes}
            value={days}
            onChange={(value) => setDays(value ?? '')}
            allowDeselect={false}
          />
          <Problem error={create.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </SecretDialog>
  )
}
