import { Group, Stack } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
import { useMay } from '../platform/organization.ts'
import { keys } from '../platform/queries.ts'
import { useAction, useWrite } from '../platform/rest.ts'
import { language, t } from '../texts/texts.ts'
import { NameButton } from './fields.tsx'
import { useGroups, useRoutes } from './organization.ts'

type RobotGroup = Schemas['OrganizationGroup']

export function Groups() {
  const { key, route } = useRoutes()
  const manages = useMay()('members.manage')
  const query = useGroups()
  const create = useWrite(
    (rest, name: string) => rest.POST('/api/organizations/{id}/groups', { ...route, body: { name } }),
    { refresh: [key] },
  )
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>{t('organization.groups.note')}</Note>
        {manages && (
          <NameButton
            change={create}
            title={t('organization.groups.create')}
            note={t('organization.groups.nameNote')}
            confirmLabel={t('organization.create')}
          >
            {t('organization.groups.create')}
          </NameButton>
        )}
      </Group>
      <QueryView
        query={query}
        isEmpty={({ groups }) => groups.length === 0}
        empty={<Empty title={t('organization.groups.none')} />}
      >
        {({ groups }) => (
          <RowTable
            label={t('organization.groups.title')}
            minWidth={420}
            columns={manages ? [...columns, actions] : columns}
            rows={groups}
          />
        )}
      </QueryView>
    </Stack>
  )
}

const columns: readonly TableColumn<RobotGroup>[] = [
  [t('organization.name'), ({ name }) => name, { style: { overflowWrap: 'anywhere' } }],
  [
    { label: t('organization.groups.robots'), align: 'right' },
    ({ robots }) => robots.toLocaleString(language),
  ],
]
const actions: TableColumn<RobotGroup> = [
  t('organization.members.actions'),
  (group) => <GroupActions group={group} />,
]

function GroupActions({ group: { id: group_id, name } }: { group: RobotGroup }) {
  const { id, key } = useRoutes()
  const params = { path: { id, group_id } }
  const rename = useWrite(
    (rest, newName: string) =>
      rest.PATCH('/api/organizations/{id}/groups/{group_id}', { params, body: { name: newName } }),
    { refresh: [key] },
  )
  const remove = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/groups/{group_id}', { params }),
    key,
    keys.robots,
  )
  return (
    <Group gap="xs" wrap="nowrap">
      <NameButton
        size="xs"
        change={rename}
        title={t('organization.groups.renameLabel', { name })}
        initial={name}
        confirmLabel={t('organization.groups.rename')}
        aria-label={t('organization.groups.renameLabel', { name })}
      >
        {t('organization.groups.rename')}
      </NameButton>
      <ConfirmButton
        size="xs"
        question={t('organization.groups.removeQuestion', { name })}
        consequence={t('organization.groups.removeConsequence')}
        confirmLabel={t('organization.groups.remove')}
        onConfirm={() => remove()}
        aria-label={t('organization.groups.removeLabel', { name })}
      />
    </Group>
  )
}
