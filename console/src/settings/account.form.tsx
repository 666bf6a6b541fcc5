import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMe } from '../auth/me.ts'
import { Saved } from '../ui/saved.tsx'
import { Problem } from '../ui/states.tsx'
import { useProfileChange } from './use-profile-change.ts'

export function AccountForm() {
  const me = useMe()
  const [name, setName] = useState(me.display_name)
  const change = useProfileChange()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate({ display_name: name.trim() })
      }}
    >
      <Stack>
        <TextInput
          label="Display name"
          description="What others see"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={100}
          required
          autoComplete="name"
        />
        <TextInput label="E-mail" description="From your identity provider" value={me.email ?? ''} readOnly />
        <Problem error={change.error} />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
          <Saved when={change.isSuccess} />
        </Group>
      </Stack>
    </form>
  )
}
