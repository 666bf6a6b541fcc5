import { Avatar, Button, Code, FileButton, Group, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable } from '../base/data-table.tsx'
import { DialogButtons, FormFooter } from '../base/form.tsx'
import { Page } from '../base/page.tsx'
import { SecretDialog } from '../base/secret.tsx'
import { Sections } from '../base/sections.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { chosenLanguage, LANGUAGES } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { Webhooks } from '../webhooks/webhooks.tsx'
import { NotificationSection } from './notification-section.tsx'
import { ClientProfileForm, OperatorProfileForm } from './profile-forms.tsx'
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
