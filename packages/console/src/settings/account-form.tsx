import { Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { FormFooter } from '../ui/form.tsx'
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
          label={t('settings.account.name')}
          description={t('settings.account.nameNote')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          autoComplete="name"
        />
        <TextInput
          label={t('settings.account.email')}
          description={t('settings.account.emailNote')}
          value={me.email ?? ''}
          readOnly
        />
        <FormFooter change={change} />
      </Stack>
    </form>
  )
}
