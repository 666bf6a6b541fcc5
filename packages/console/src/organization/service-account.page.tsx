import { Button, Checkbox, Code, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiKeyScope } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { shortList } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { SecretDialog } from '../base/secret.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Empty, Note, Problem, Warning } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useAction, useRead, useWrite } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { organizationRoleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { useRoutes } from './organization.ts'
import { useServiceAccounts } from './service-accounts.tsx'

type Key = Schemas['ApiKey']

/** A key that is unused for so many days is reported, as the platform does in a notification. */
const UNUSED_DAYS = 90

const scopes: Readonly<Record<ApiKeyScope, { readonly label: string; readonly description: string }>> = {
  read: { label: t('organization.scopes.read'), description: t('organization.scopes.readNote') },
  sessions: { label: t('organization.scopes.sessions'), description: t('organization.scopes.sessionsNote') },
  robots: { label: t('organization.scopes.robots'), description: t('organization.scopes.robotsNote') },
  drive: { label: t('organization.scopes.drive'), description: t('organization.scopes.driveNote') },
  billing: { label: t('organization.scopes.billing'), description: t('organization.scopes.billingNote') },
  admin: { label: t('organization.scopes.admin'), description: t('organization.scopes.adminNote') },
}

/** Returns the parameters of the routes below the service account of the page. */
function useAccountRoutes() {
  const { accountId } = useParams({ from: '/shell/organization/service-accounts/$accountId' })
  const { id, key } = useRoutes()
  const path = { id, account_id: accountId }
  return { accountId, key, path, route: { params: { path } } }
}

/** Shows a service account with its API keys. */
export function ServiceAccountPage() {
  const { accountId, key, route } = useAccountRoutes()
  const account = useServiceAccounts().data?.service_accounts.find(({ id }) => id === accountId)
  const query = useRead([...key, 'service-accounts', accountId, 'keys'], (rest) =>
    rest.GET('/api/organizations/{id}/service-accounts/{account_id}/keys', route),
  )
  return (
    <ResourcePage
      query={query}
      kind={t('organization.serviceAccounts.kind')}
      back={<LinkButton to="/organization">{t('app.pages.organization')}</LinkButton>}
    >
      {({ api_keys }) => (
        <Page
          title={account?.name ?? t('organization.serviceAccounts.kind')}
          description={
            account && t('organization.serviceAccounts.role', { role: organizationRoleTexts[account.role] })
          }
          link={['/organization', t('app.pages.organization')]}
        >
          <Unused apiKeys={api_keys} />
          <Section title={t('settings.apiKeys.title')}>
            <Keys apiKeys={api_keys} />
          </Section>
        </Page>
      )}
    </ResourcePage>
  )
}

const isUnused = ({ unused_days = 0 }: Key) => unused_days >= UNUSED_DAYS
const isEnded = ({ revoked_at, expires_at }: Key) =>
  revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now())

/** Reports keys that nobody has used for long, which should be revoked. */
function Unused({ apiKeys }: { apiKeys: readonly Key[] }) {
  const unused = apiKeys.filter(isUnused)
  if (unused.length === 0) return null
  const names = shortList.format(unused.map(({ name, last4 }) => `${name} (…${last4})`))
  return (
    <Warning title={t('organization.keys.unusedTitle', { days: UNUSED_DAYS })}>
      {t('organization.keys.unusedText', { names })}
    </Warning>
  )
}

function Keys({ apiKeys }: { apiKeys: readonly Key[] }) {
  const [opened, { open, close }] = useDisclosure(false)
  const replaced = new Set(apiKeys.map(({ replaces_id }) => replaces_id))
  const rows = apiKeys.map((apiKey) => ({ ...apiKey, isReplaced: replaced.has(apiKey.id) }))
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>{t('organization.keys.note')}</Note>
        <Button variant="default" onClick={open}>
          {t('settings.apiKeys.create')}
        </Button>
      </Group>
      <NewKey opened={opened} onClose={close} />
      {rows.length === 0 ? (
        <Empty title={t('settings.apiKeys.emptyTitle')} />
      ) : (
        <RowTable label={t('settings.apiKeys.title')} minWidth={860} columns={columns} rows={rows} />
      )}
    </Stack>
  )
}

type Row = Key & { readonly isReplaced: boolean }

const columns: readonly TableColumn<Row>[] = [
  [
    t('settings.apiKeys.name'),
    ({ name, prefix, last4 }) => (
      <>
        <Text inherit>{name}</Text>
        <Code>{`${prefix}…${last4}`}</Code>
      </>
    ),
    { style: { overflowWrap: 'anywhere' } },
  ],
  [
    t('organization.keys.scopes'),
    ({ scopes: own = [] }) => shortList.format(own.map((scope) => scopes[scope].label)),
  ],
  [
    t('settings.apiKeys.lastUsed'),
    (key) => (
      <>
        {key.last_used_at ? <Time at={key.last_used_at} /> : t('settings.apiKeys.neverUsed')}
        {key.last_used_address && (
          <Note>{t('organization.keys.from', { address: key.last_used_address })}</Note>
        )}
        {isUnused(key) && (
          <StateLabel shape="delayed">
            {t('organization.keys.unused', { count: key.unused_days ?? 0 })}
          </StateLabel>
        )}
      </>
    ),
  ],
  [
    t('settings.apiKeys.expires'),
    ({ expires_at: at, isReplaced }) => (
      <>
        {at ? <Time at={at} /> : t('settings.apiKeys.neverExpires')}
        {isReplaced && <Note>{t('organization.keys.replaced')}</Note>}
      </>
    ),
  ],
  [
    t('settings.apiKeys.status'),
    (key) =>
      isEnded(key) ? (
        <StateLabel shape="off">
          {t(key.revoked_at ? 'settings.apiKeys.revoked' : 'organization.keys.expired')}
        </StateLabel>
      ) : (
        <Group gap="xs" wrap="nowrap">
          {!key.isReplaced && <Rotate apiKey={key} />}
          <Revoke apiKey={key} />
        </Group>
      ),
  ],
]

function Revoke({ apiKey: { id: key_id, name, last4 } }: { apiKey: Key }) {
  const { key, path } = useAccountRoutes()
  const params = { path: { ...path, key_id } }
  const revoke = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/service-accounts/{account_id}/keys/{key_id}', { params }),
    key,
  )
  const shown = `${name} (…${last4})`
  return (
    <ConfirmButton
      size="xs"
      question={t('settings.apiKeys.revokeQuestion', { name: shown })}
      consequence={t('settings.apiKeys.revokeConsequence')}
      confirmLabel={t('settings.apiKeys.revoke')}
      onConfirm={() => revoke()}
      aria-label={t('settings.apiKeys.revokeLabel', { name: shown })}
    />
  )
}

/** How long the old key works beside its successor, in hours. */
const overlaps = [
  { value: '0', label: t('organization.keys.atOnce') },
  { value: '1', label: t('organization.keys.hour') },
  { value: '24', label: t('organization.keys.day') },
  { value: '168', label: t('organization.keys.week') },
]

function Rotate({ apiKey: { id: key_id, name, last4 } }: { apiKey: Key }) {
  const { key, path } = useAccountRoutes()
  const [opened, { open, close }] = useDisclosure(false)
  const { values, field, change } = useFields({ hours: '24' })
  const params = { path: { ...path, key_id } }
  const rotate = useWrite(
    (rest) =>
      rest.POST('/api/organizations/{id}/service-accounts/{account_id}/keys/{key_id}/rotate', {
        params,
        body: { overlapHours: Number(values.hours) },
      }),
    { gcTime: 0 },
  )
  const queries = useQueryClient()
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={open}
        aria-label={t('organization.keys.rotateLabel', { name: `${name} (…${last4})` })}
      >
        {t('organization.keys.rotate')}
      </Button>
      <SecretDialog
        opened={opened}
        onClose={close}
        onClosed={() => {
          rotate.reset()
          // Not before, because a replaced key has no such dialog.
          void queries.invalidateQueries({ queryKey: key })
        }}
        title={t('organization.keys.rotateTitle', { name })}
        shown={shownKey(rotate.data)}
      >
        <Form onSubmit={() => rotate.mutate()}>
          <Text>{t('organization.keys.rotateNote')}</Text>
          <Select
            label={t('organization.keys.overlap')}
            data={overlaps}
            allowDeselect={false}
            data-autofocus
            {...field('hours')}
            onChange={(hours) => change({ hours: hours ?? '24' })}
          />
          <Problem error={rotate.error} />
          <DialogButtons onCancel={close} loading={rotate.isPending}>
            {t('organization.keys.rotate')}
          </DialogButtons>
        </Form>
      </SecretDialog>
    </>
  )
}

const shownKey = (created: Schemas['CreatedApiKey'] | undefined) =>
  created && {
    title: t('settings.newApiKey.title'),
    note: t('settings.newApiKey.onceNote'),
    label: created.name,
    value: created.key,
  }

const lifetimes = [30, 90, 180, 365].map((days) => ({
  value: String(days),
  label: t('settings.newApiKey.days', { days }),
}))

const emptyKey: { readonly name: string; readonly scopes: string[]; readonly days: string } = {
  name: '',
  scopes: ['read'],
  days: '90',
}

function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { key, route } = useAccountRoutes()
  const { values, setValues, field, change } = useFields(emptyKey)
  const create = useWrite(
    (rest) =>
      rest.POST('/api/organizations/{id}/service-accounts/{account_id}/keys', {
        ...route,
        body: {
          ...(values.name.trim() !== '' && { name: values.name.trim() }),
          scopes: ApiKeyScope.options.filter((scope) => values.scopes.includes(scope)),
          expiresInDays: Number(values.days),
        },
      }),
    { refresh: [key], gcTime: 0 },
  )
  const forget = () => {
    create.reset()
    setValues(emptyKey)
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      onClosed={forget}
      title={t('settings.apiKeys.create')}
      shown={shownKey(create.data)}
    >
      <Form onSubmit={() => create.mutate()}>
        <TextInput
          label={t('settings.newApiKey.name')}
          description={t('organization.keys.nameNote')}
          maxLength={100}
          data-autofocus
          {...field('name')}
        />
        <Checkbox.Group
          label={t('organization.keys.scopes')}
          description={t('organization.keys.scopesNote')}
          value={values.scopes}
          onChange={(next) => change({ scopes: next })}
          required
        >
          <Stack gap="xs" mt="xs">
            {ApiKeyScope.options.map((scope) => (
              <Checkbox key={scope} value={scope} {...scopes[scope]} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Select
          label={t('settings.newApiKey.lifetime')}
          data={lifetimes}
          allowDeselect={false}
          {...field('days')}
          onChange={(days) => change({ days: days ?? '90' })}
        />
        <Problem error={create.error} />
        <DialogButtons onCancel={onClose} loading={create.isPending} disabled={values.scopes.length === 0}>
          {t('settings.newApiKey.create')}
        </DialogButtons>
      </Form>
    </SecretDialog>
  )
}
