import { Avatar, Button, FileButton, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { FormFooter } from '../base/form.tsx'
import { Page } from '../base/page.tsx'
import { Sections } from '../base/sections.tsx'
import { Note, Problem } from '../base/states.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { chosenLanguage, LANGUAGES } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { Webhooks } from '../webhooks/webhooks.tsx'
import { ApiKeys } from './api-keys.tsx'
import { ClientProfileForm } from './client-profile-form.tsx'
import { NotificationSection } from './notification-section.tsx'
import { OperatorProfileForm } from './operator-profile-form.tsx'
import { isLanguage, useProfileChange, useSelectLanguage } from './use-profile-change.ts'

/** Shows the settings of the account. */
export function SettingsPage() {
  const { roles } = useMe()
  const account = (
    <>
      <AvatarForm />
      <AccountForm />
      <LanguageForm />
    </>
  )
  return (
    <Page title={t('common.settings')}>
      <Sections
        items={[
          { id: 'account', title: t('common.account'), content: account },
          ...(roles.includes('operator') ? [operatorProfile] : []),
          ...(roles.includes('client') ? [ownerProfile] : []),
          { id: 'roles', title: t('settings.page.roles'), content: <RolesSection /> },
          {
            id: 'notifications',
            title: t('settings.page.notifications'),
            content: <NotificationSection />,
          },
          { id: 'api-keys', title: t('settings.apiKeys.title'), content: <ApiKeys /> },
          { id: 'webhooks', title: t('settings.webhooks'), content: <Webhooks /> },
        ]}
      />
    </Page>
  )
}

const operatorProfile = {
  id: 'operator-profile',
  title: t('settings.page.operatorProfile'),
  content: <OperatorProfileForm />,
}
const ownerProfile = {
  id: 'owner-profile',
  title: t('settings.page.ownerProfile'),
  content: <ClientProfileForm />,
}

function AccountForm() {
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

function AvatarForm() {
  const me = useMe()
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const upload = useMutation({
    mutationFn: (file: File) => {
      const form = new FormData()
      form.set('avatar', file)
      return answerOf(
        rest.POST('/api/auth/avatar', { body: { avatar: file.name }, bodySerializer: () => form }),
      )
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.profile }),
  })
  return (
    <Stack>
      <Group>
        <Avatar
          src={me.avatar_url}
          name={me.display_name}
          alt={t('settings.avatar.alt')}
          size="lg"
          color="blue.9"
          variant="filled"
        />
        <FileButton
          accept="image/png,image/jpeg,image/webp"
          onChange={(file) => file && upload.mutate(file)}
          inputProps={{ 'aria-label': t('settings.avatar.file') }}
        >
          {(button) => (
            <Button {...button} variant="default" loading={upload.isPending}>
              {t('settings.avatar.upload')}
            </Button>
          )}
        </FileButton>
        <Note>{t('settings.avatar.note')}</Note>
      </Group>
      <Problem error={upload.error} />
    </Stack>
  )
}

const SYSTEM = 'system'

/** Selects the language of the console in this browser. */
function LanguageForm() {
  const selectLanguage = useSelectLanguage()
  return (
    <Select
      label={t('settings.language.label')}
      description={t('settings.language.note')}
      data={[
        { value: SYSTEM, label: t('settings.language.system') },
        ...Object.entries(LANGUAGES).map(([value, label]) => ({ value, label })),
      ]}
      value={chosenLanguage() ?? SYSTEM}
      onChange={(value) => value !== null && selectLanguage(isLanguage(value) ? value : undefined)}
      allowDeselect={false}
    />
  )
}

const roles = {
  client: {
    label: t('common.owner'),
    question: t('settings.roles.removeOwner'),
    consequence: t('settings.roles.ownerConsequence'),
    removeLabel: t('settings.roles.removeOwnerLabel'),
    addLabel: t('settings.roles.addOwnerLabel'),
  },
  operator: {
    label: t('common.operator'),
    question: t('settings.roles.removeOperator'),
    consequence: t('settings.roles.operatorConsequence'),
    removeLabel: t('settings.roles.removeOperatorLabel'),
    addLabel: t('settings.roles.addOperatorLabel'),
  },
} as const

/** Adds and removes roles of the user. */
function RolesSection() {
  const me = useMe()
  const remove = useRemoveRole()
  const add = useProfileChange()
  return (
    <Stack gap="xs">
      {(['client', 'operator'] as const).map((role) => (
        <Group key={role} justify="space-between" maw={480}>
          <Text>{roles[role].label}</Text>
          {me.roles.includes(role) ? (
            <ConfirmButton
              variant="default"
              size="xs"
              question={roles[role].question}
              consequence={roles[role].consequence}
              confirmLabel={t('settings.roles.remove')}
              onConfirm={() => remove.mutateAsync(role)}
              aria-label={roles[role].removeLabel}
            >
              {t('common.remove')}
            </ConfirmButton>
          ) : (
            <Button
              variant="default"
              size="xs"
              loading={add.isPending && add.variables.role === role}
              onClick={() => add.mutate({ role })}
              aria-label={roles[role].addLabel}
            >
              {t('common.add')}
            </Button>
          )}
        </Group>
      ))}
      <Problem error={add.error} />
    </Stack>
  )
}

function useRemoveRole() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (role: 'client' | 'operator') =>
      answerOf(rest.DELETE('/api/auth/roles/{role}', { params: { path: { role } } })),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: keys.profile }),
        queries.invalidateQueries({ queryKey: keys.onboarding }),
      ]),
  })
}
