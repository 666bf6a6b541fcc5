import { Button, Code, Group, Modal, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { type OneTimeSecret, SecretDialog } from '../base/secret.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useOrganization } from '../platform/organization.ts'
import { useAction, useRead, useWrite } from '../platform/rest.ts'
import { organizationRoleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { roleOptions, useGroups, useRoutes } from './organization.ts'

type Domain = Schemas['OrganizationDomain']
type ScimToken = Schemas['ScimToken']
type RoleMapping = Schemas['RoleMapping']

/** Renders what a list is for, the button that opens the form of a new entry, and the entries. */
function List<T extends { id: string }, B>(props: {
  readonly title: string
  readonly note: string
  readonly addLabel: string
  readonly none: string
  readonly query: UseQueryResult<B>
  readonly rowsOf: (body: B) => readonly T[]
  readonly columns: readonly TableColumn<T>[]
  readonly onAdd: () => void
  /** The dialog of the form. */
  readonly children: ReactNode
}) {
  const { title, note, addLabel, none, query, rowsOf, columns, onAdd, children } = props
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={3} size="h4">
            {title}
          </Title>
          <Note maw={640}>{note}</Note>
        </div>
        <Button variant="default" onClick={onAdd}>
          {addLabel}
        </Button>
      </Group>
      {children}
      <QueryView query={query} isEmpty={(body) => rowsOf(body).length === 0} empty={<Empty title={none} />}>
        {(body) => <RowTable label={title} minWidth={520} columns={columns} rows={rowsOf(body)} />}
      </QueryView>
    </Stack>
  )
}

/** Renders the foot of the form of a new entry. */
const AddFoot = (props: {
  change: { error: unknown; isPending: boolean }
  explained: boolean
  onCancel: () => void
  label: string
}) => (
  <>
    {!props.explained && <Problem error={props.change.error} />}
    <DialogButtons onCancel={props.onCancel} loading={props.change.isPending}>
      {props.label}
    </DialogButtons>
  </>
)

/** Lists the domains of the team, which TXT records verify. */
export function Domains() {
  const { key, route } = useRoutes()
  const [opened, { open, close }] = useDisclosure(false)
  const query = useRead([...key, 'domains'], (rest) => rest.GET('/api/organizations/{id}/domains', route))
  const add = useWrite(
    (rest, domain: string) => rest.POST('/api/organizations/{id}/domains', { ...route, body: { domain } }),
    { refresh: [[...key, 'domains']], onSuccess: close },
  )
  const { values, field, errors } = useFields({ domain: '' }, add.error)
  return (
    <List
      title={t('organization.domains.title')}
      note={t('organization.domains.note')}
      addLabel={t('organization.domains.add')}
      none={t('organization.domains.none')}
      query={query}
      rowsOf={({ domains }) => domains}
      columns={domainColumns}
      onAdd={open}
    >
      <Modal opened={opened} onClose={close} title={t('organization.domains.add')}>
        <Form onSubmit={() => add.mutate(values.domain)}>
          <TextInput
            label={t('organization.domains.domain')}
            maxLength={253}
            required
            data-autofocus
            {...field('domain')}
          />
          <AddFoot
            change={add}
            explained={errors !== undefined}
            onCancel={close}
            label={t('organization.domains.add')}
          />
        </Form>
      </Modal>
    </List>
  )
}

const domainColumns: readonly TableColumn<Domain>[] = [
  [t('organization.domains.domain'), ({ domain }) => domain, { style: { overflowWrap: 'anywhere' } }],
  [
    t('organization.domains.record'),
    ({ txt_name, txt_value, verified_at }) =>
      verified_at ? (
        <Time at={verified_at} />
      ) : (
        <>
          <Text size="sm">{t('organization.domains.txt')}</Text>
          <Code block>{`${txt_name}\n${txt_value}`}</Code>
        </>
      ),
  ],
  [t('organization.members.actions'), (domain) => <DomainActions domain={domain} />],
]

function DomainActions({ domain: { id: domain_id, domain, verified_at } }: { domain: Domain }) {
  const { id, key } = useRoutes()
  const params = { path: { id, domain_id } }
  const refresh = [...key, 'domains']
  const verify = useWrite(
    (rest) => rest.POST('/api/organizations/{id}/domains/{domain_id}/verify', { params }),
    { refresh: [refresh] },
  )
  const remove = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/domains/{domain_id}', { params }),
    refresh,
  )
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        {!verified_at && (
          <Button
            size="xs"
            variant="default"
            loading={verify.isPending}
            onClick={() => verify.mutate()}
            aria-label={t('organization.domains.verifyLabel', { domain })}
          >
            {t('organization.domains.verify')}
          </Button>
        )}
        <ConfirmButton
          size="xs"
          question={t('organization.domains.removeQuestion', { domain })}
          consequence={t('organization.domains.removeConsequence')}
          confirmLabel={t('organization.groups.remove')}
          onConfirm={() => remove()}
          aria-label={t('organization.domains.removeQuestion', { domain })}
        />
      </Group>
      <Problem error={verify.error} />
    </Stack>
  )
}

/** Lists what the groups of the provider mean in the team. */
export function RoleMappings() {
  const { key, route } = useRoutes()
  const { role: ownRole } = useOrganization()
  const refresh = [...key, 'role-mappings']
  const groups = useGroups().data?.groups ?? []
  const [opened, { open, close }] = useDisclosure(false)
  const query = useRead(refresh, (rest) => rest.GET('/api/organizations/{id}/role-mappings', route))
  const add = useWrite(
    (rest, body: { name: string; role: RoleMapping['role']; group_id: string | null }) =>
      rest.POST('/api/organizations/{id}/role-mappings', { ...route, body }),
    { refresh: [refresh], onSuccess: close },
  )
  const { values, change, field, errors } = useFields(
    { name: '', role: 'operator' as RoleMapping['role'], group_id: null as string | null },
    add.error,
  )
  const columns: readonly TableColumn<RoleMapping>[] = [
    [t('organization.mappings.group'), ({ name }) => name, { style: { overflowWrap: 'anywhere' } }],
    [t('organization.members.role'), ({ role }) => role && organizationRoleTexts[role]],
    [t('organization.members.groups'), ({ group_id }) => groups.find((group) => group.id === group_id)?.name],
    [t('organization.members.actions'), (mapping) => <RemoveMapping mapping={mapping} />],
  ]
  return (
    <List
      title={t('organization.mappings.title')}
      note={t('organization.mappings.note')}
      addLabel={t('organization.mappings.add')}
      none={t('organization.mappings.none')}
      query={query}
      rowsOf={({ role_mappings }) => role_mappings}
      columns={columns}
      onAdd={open}
    >
      <Modal opened={opened} onClose={close} title={t('organization.mappings.add')}>
        <Form onSubmit={() => add.mutate(values)}>
          <TextInput
            label={t('organization.mappings.group')}
            maxLength={255}
            required
            data-autofocus
            {...field('name')}
          />
          <Select
            label={t('organization.members.role')}
            data={roleOptions(ownRole)}
            value={values.role ?? null}
            onChange={(role) => change({ role: role as RoleMapping['role'] })}
            allowDeselect={false}
          />
          {groups.length > 0 && (
            <Select
              label={t('organization.members.groups')}
              data={groups.map(({ id, name }) => ({ value: id, label: name }))}
              value={values.group_id}
              onChange={(group_id) => change({ group_id })}
              clearable
            />
          )}
          <AddFoot
            change={add}
            explained={errors !== undefined}
            onCancel={close}
            label={t('organization.mappings.add')}
          />
        </Form>
      </Modal>
    </List>
  )
}

function RemoveMapping({ mapping: { id: mapping_id, name } }: { mapping: RoleMapping }) {
  const { id, key } = useRoutes()
  const params = { path: { id, mapping_id } }
  const remove = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/role-mappings/{mapping_id}', { params }),
    [...key, 'role-mappings'],
  )
  return (
    <ConfirmButton
      size="xs"
      question={t('organization.mappings.removeQuestion', { name })}
      consequence={t('organization.mappings.removeConsequence')}
      confirmLabel={t('organization.groups.remove')}
      onConfirm={() => remove()}
      aria-label={t('organization.mappings.removeQuestion', { name })}
    />
  )
}

/** Lists the tokens with which the provider manages members. */
export function ScimTokens() {
  const { key, route } = useRoutes()
  const refresh = [...key, 'scim-tokens']
  const [opened, { open, close }] = useDisclosure(false)
  const [secret, setSecret] = useState<OneTimeSecret>()
  const query = useRead(refresh, (rest) => rest.GET('/api/organizations/{id}/scim-tokens', route))
  const create = useWrite(
    (rest, name: string) => rest.POST('/api/organizations/{id}/scim-tokens', { ...route, body: { name } }),
    {
      refresh: [refresh],
      onSuccess: ({ token }) =>
        setSecret({
          title: t('organization.scim.created'),
          note: t('organization.scim.once'),
          label: t('organization.scim.token'),
          value: token,
        }),
    },
  )
  const { values, field, errors } = useFields({ name: '' }, create.error)
  return (
    <List
      title={t('organization.scim.title')}
      note={t('organization.scim.note')}
      addLabel={t('organization.scim.create')}
      none={t('organization.scim.none')}
      query={query}
      rowsOf={({ scim_tokens }) => scim_tokens}
      columns={tokenColumns}
      onAdd={open}
    >
      <SecretDialog
        opened={opened}
        onClose={close}
        onClosed={() => setSecret(undefined)}
        title={t('organization.scim.create')}
        shown={secret}
      >
        <Form onSubmit={() => create.mutate(values.name.trim())}>
          <TextInput
            label={t('organization.name')}
            maxLength={100}
            required
            data-autofocus
            {...field('name')}
          />
          <AddFoot
            change={create}
            explained={errors !== undefined}
            onCancel={close}
            label={t('organization.create')}
          />
        </Form>
      </SecretDialog>
    </List>
  )
}

const tokenColumns: readonly TableColumn<ScimToken>[] = [
  [t('organization.name'), ({ name }) => name, { style: { overflowWrap: 'anywhere' } }],
  [
    t('organization.scim.lastUsed'),
    ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : t('organization.scim.unused')),
  ],
  [t('organization.members.actions'), (token) => <RevokeToken token={token} />],
]

function RevokeToken({ token: { id: token_id, name } }: { token: ScimToken }) {
  const { id, key } = useRoutes()
  const params = { path: { id, token_id } }
  const revoke = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/scim-tokens/{token_id}', { params }),
    [...key, 'scim-tokens'],
  )
  return (
    <ConfirmButton
      size="xs"
      question={t('organization.scim.revokeQuestion', { name })}
      consequence={t('organization.scim.revokeConsequence')}
      confirmLabel={t('organization.invitations.revoke')}
      onConfirm={() => revoke()}
      aria-label={t('organization.scim.revokeQuestion', { name })}
    />
  )
}
