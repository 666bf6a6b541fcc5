import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useAction, useRead, useWrite } from '../platform/rest.ts'
import { organizationRoleTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { groupIdsOf, type Rights, RightsFields } from './fields.tsx'
import { GroupNames } from './members.tsx'
import { useRoutes } from './organization.ts'

type Account = Schemas['ServiceAccount']

/** Queries the service accounts of the organization that the page acts for. */
export function useServiceAccounts() {
  const { key, route } = useRoutes()
  return useRead([...key, 'service-accounts'], (rest) =>
    rest.GET('/api/organizations/{id}/service-accounts', route),
  )
}

export function ServiceAccounts() {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>{t('organization.serviceAccounts.note')}</Note>
        <Button variant="default" onClick={open}>
          {t('organization.serviceAccounts.create')}
        </Button>
      </Group>
      <NewAccount opened={opened} onClose={close} />
      <QueryView
        query={useServiceAccounts()}
        isEmpty={({ service_accounts }) => service_accounts.length === 0}
        empty={<Empty title={t('organization.serviceAccounts.none')} />}
      >
        {({ service_accounts }) => (
          <RowTable
            label={t('organization.serviceAccounts.title')}
            minWidth={640}
            columns={columns}
            rows={service_accounts}
          />
        )}
      </QueryView>
    </Stack>
  )
}

const columns: readonly TableColumn<Account>[] = [
  [
    t('organization.name'),
    ({ id, name }) => (
      <LinkAnchor to="/organization/service-accounts/$accountId" params={{ accountId: id }}>
        {name}
      </LinkAnchor>
    ),
    { style: { overflowWrap: 'anywhere' } },
  ],
  [t('organization.members.role'), ({ role }) => organizationRoleTexts[role]],
  [t('organization.members.groups'), ({ group_ids }) => <GroupNames ids={group_ids} />],
  [
    { label: t('organization.serviceAccounts.keys'), align: 'right' },
    ({ keys }) => keys.toLocaleString(language),
  ],
  [
    t('settings.apiKeys.lastUsed'),
    ({ last_used_at: at }) => (at ? <Time at={at} /> : t('settings.apiKeys.neverUsed')),
  ],
  [t('organization.members.actions'), (account) => <RemoveAccount account={account} />],
]

function RemoveAccount({ account: { id: account_id, name } }: { account: Account }) {
  const { id, key } = useRoutes()
  const params = { path: { id, account_id } }
  const remove = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/service-accounts/{account_id}', { params }),
    key,
  )
  return (
    <ConfirmButton
      size="xs"
      question={t('organization.serviceAccounts.removeQuestion', { name })}
      consequence={t('organization.serviceAccounts.removeConsequence')}
      confirmLabel={t('organization.groups.remove')}
      onConfirm={() => remove()}
      aria-label={t('organization.groups.removeLabel', { name })}
    />
  )
}

const empty: Rights & { readonly name: string } = { name: '', role: 'operator', groupIds: [] }

function NewAccount({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { key, route } = useRoutes()
  const create = useWrite(
    (rest, { name, ...rights }: typeof empty) =>
      rest.POST('/api/organizations/{id}/service-accounts', {
        ...route,
        // The form offers no owner.
        body: { name: name.trim(), role: rights.role as Account['role'], group_ids: groupIdsOf(rights) },
      }),
    { refresh: [key], onSuccess: onClose },
  )
  const { values, setValues, field, errors, change } = useFields(empty, create.error)
  const forget = () => {
    create.reset()
    setValues(empty)
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={forget}
      title={t('organization.serviceAccounts.create')}
    >
      <Form onSubmit={() => create.mutate(values)}>
        <TextInput
          label={t('organization.name')}
          description={t('organization.serviceAccounts.nameNote')}
          maxLength={100}
          required
          data-autofocus
          {...field('name')}
        />
        <RightsFields values={values} change={change} ofProgram />
        {!errors && <Problem error={create.error} />}
        <DialogButtons onCancel={onClose} loading={create.isPending}>
          {t('organization.create')}
        </DialogButtons>
      </Form>
    </Modal>
  )
}
