import { Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMe } from '../auth/me.ts'
import { FormFooter } from '../ui/form-footer.tsx'
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
          description="Visible to other users"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          autoComplete="name"
        />
        <TextInput label="E-mail" description="From your identity provider" value={me.email ?? ''} readOnly />
        <FormFooter change={change} />
      </Stack>
    </form>
  )
}
