import { Avatar, Button, Code, FileButton, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, FormFooter, useFields } from '../base/form.tsx'
import { Page } from '../base/page.tsx'
import { SecretDialog } from '../base/secret.tsx'
import { Sections } from '../base/sections.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMay, useOrganizations } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId, useAction, useRead, useWrite } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { chosenLanguage, isLanguage, LANGUAGES } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { Webhooks } from '../webhooks/webhooks.tsx'
import { NotificationSection } from './notification-section.tsx'
import { DeleteAccount, OwnData } from './own-data.tsx'
import { ClientProfileForm, OperatorProfileForm } from './profile-forms.tsx'
import { useProfileChange, useSelectLanguage } from './use-profile-change.ts'

export function SettingsPage() {
  const { roles } = useMe()
  const { isTeam } = useOrganizations()
  const may = useMay()
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
          !isTeam &&
            roles.includes('operator') && {
              id: 'operator-profile',
              title: t('settings.page.operatorProfile'),
              content: <OperatorProfileForm />,
            },
          roles.includes('client') &&
            may('billing.write') && {
              id: 'owner-profile',
              title: t('settings.page.ownerProfile'),
              content: <ClientProfileForm />,
            },
          !isTeam && { id: 'roles', title: t('settings.page.roles'), content: <RolesSection /> },
          {
            id: 'notifications',
            title: t('settings.page.notifications'),
            content: <NotificationSection />,
          },
          { id: 'api-keys', title: t('settings.apiKeys.title'), content: <ApiKeys /> },
          may('webhooks.manage') && { id: 'webhooks', title: t('settings.webhooks'), content: <Webhooks /> },
          { id: 'data', title: t('settings.ownData.title'), content: <OwnData /> },
          { id: 'delete-account', title: t('settings.deleteAccount.title'), content: <DeleteAccount /> },
        ].filter((item) => item !== false)}
      />
    </Page>
  )
}

function AccountForm() {
  const me = useMe()
  const [name, setName] = useState(me.display_name)
  const change = useProfileChange()
  return (
    <Form onSubmit={() => change.mutate({ display_name: name.trim() })}>
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
    </Form>
  )
}

function AvatarForm() {
  const me = useMe()
  const upload = useWrite(
    (rest, file: File) => {
      const form = new FormData()
      form.set('avatar', file)
      return rest.POST('/api/auth/avatar', { body: { avatar: file.name }, bodySerializer: () => form })
    },
    { refresh: [keys.profile] },
  )
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
  const remove = useWrite(
    (rest, role: 'client' | 'operator') =>
      rest.DELETE('/api/auth/roles/{role}', { params: { path: { role } } }),
    { refresh: [keys.profile, keys.onboarding] },
  )
  const add = useProfileChange()
  return (
    <Stack gap="xs">
      {(['client', 'operator'] as const).map((role) => (
        <Group key={role} justify="space-between" maw={480}>
          <Text>{roles[role].label}</Text>
          {me.roles.includes(role) ? (
            <ConfirmButton
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

type ApiKey = Schemas['ApiKey']

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
          <RowTable label={t('settings.apiKeys.title')} minWidth={560} columns={columns} rows={api_keys} />
        )}
      </QueryView>
    </Stack>
  )
}

const columns: readonly TableColumn<ApiKey>[] = [
  [t('settings.apiKeys.name'), ({ name }) => name],
  [t('settings.apiKeys.key'), ({ prefix, last4 }) => <Code>{`${prefix}…${last4}`}</Code>],
  [
    t('settings.apiKeys.lastUsed'),
    ({ last_used_at: at }) => (at ? <Time at={at} /> : t('settings.apiKeys.neverUsed')),
  ],
  [
    t('settings.apiKeys.expires'),
    ({ expires_at: at }) => (at ? <Time at={at} /> : t('settings.apiKeys.neverExpires')),
  ],
  [
    t('settings.apiKeys.status'),
    (key) =>
      key.revoked_at ? (
        <StateLabel shape="off">{t('settings.apiKeys.revoked')}</StateLabel>
      ) : (
        <RevokeKey apiKey={key} />
      ),
  ],
]

function RevokeKey({ apiKey: { id, name } }: { apiKey: ApiKey }) {
  const revoke = useAction((rest) => rest.DELETE('/api/auth/api-keys/{id}', byId(id)), keys.apiKeys)
  return (
    <ConfirmButton
      size="xs"
      question={t('settings.apiKeys.revokeQuestion', { name })}
      consequence={t('settings.apiKeys.revokeConsequence')}
      confirmLabel={t('settings.apiKeys.revoke')}
      onConfirm={() => revoke()}
      aria-label={t('settings.apiKeys.revokeLabel', { name })}
    />
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
  const { values, field, change } = useFields({ name: '', days: '90' })
  const create = useWrite(
    (rest) => {
      const expires_at = values.days
        ? new Date(Date.now() + Number(values.days) * DAY_MS).toISOString()
        : null
      return rest.POST('/api/auth/api-keys', { body: { name: values.name.trim(), expires_at } })
    },
    { refresh: [keys.apiKeys] },
  )
  const forget = () => {
    create.reset()
    change({ name: '' })
  }
  const shown = create.data && {
    title: t('settings.newApiKey.title'),
    note: t('settings.newApiKey.onceNote'),
    label: create.data.name,
    value: create.data.key,
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      onClosed={forget}
      title={t('settings.apiKeys.create')}
      shown={shown}
    >
      <Form onSubmit={() => create.mutate()}>
        <TextInput
          label={t('settings.newApiKey.name')}
          description={t('settings.newApiKey.nameNote')}
          required
          data-autofocus
          {...field('name')}
        />
        <Select
          label={t('settings.newApiKey.lifetime')}
          data={lifetimes}
          allowDeselect={false}
          {...field('days')}
          onChange={(days) => change({ days: days ?? '' })}
        />
        <Problem error={create.error} />
        <DialogButtons onCancel={onClose} loading={create.isPending}>
          {t('settings.newApiKey.create')}
        </DialogButtons>
      </Form>
    </SecretDialog>
  )
}
