import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { MoreButton, RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { shortList } from '../base/format.ts'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { pageOf } from '../list/list-pages.ts'
import { MAX_SEARCH } from '../list/list-search.ts'
import { useMay, useOrganization } from '../platform/organization.ts'
import { useMe, usePlatform } from '../platform/platform.ts'
import { useAction, useWrite } from '../platform/rest.ts'
import { organizationRoleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { groupIdsOf, type Rights, RightsFields } from './fields.tsx'
import { useGroups, useRoutes } from './organization.ts'

type Member = Schemas['OrganizationMember']

const PAGE_SIZE = 50
const DEBOUNCE_MS = 200

/** Queries the members that a text finds, page by page. */
function useMembers(search: string) {
  const { rest } = usePlatform()
  const { id, key } = useRoutes()
  return useInfiniteQuery({
    queryKey: [...key, 'members', search],
    queryFn: ({ pageParam: cursor, signal }) => {
      const query = { limit: PAGE_SIZE, ...(search && { search }), ...(cursor && { cursor }) }
      const members = rest.GET('/api/organizations/{id}/members', {
        params: { path: { id }, query },
        signal,
      })
      return pageOf(members, (page) => page.members)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    select: ({ pages }) => pages.flatMap(({ rows }) => rows),
    placeholderData: keepPreviousData,
  })
}

export function Members() {
  const [search, setSearch] = useState('')
  const [searched] = useDebouncedValue(search.trim(), DEBOUNCE_MS)
  const query = useMembers(searched)
  const manages = useMay()('members.manage')
  return (
    <Stack>
      <TextInput
        label={t('common.search')}
        type="search"
        value={search}
        maxLength={100}
        onChange={({ currentTarget: { value } }) => setSearch(value)}
      />
      <QueryView
        query={query}
        isEmpty={(members) => members.length === 0}
        empty={<Empty title={t('organization.members.none')} />}
      >
        {(members) => (
          <>
            <RowTable
              label={t('organization.members.title')}
              minWidth={560}
              columns={manages ? [...columns, actions] : columns}
              rows={members}
              keyOf={({ user_id }) => user_id}
            />
            <MoreButton query={query}>{t('organization.members.more')}</MoreButton>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

/** Chooses a member. @param props.name of the chosen one, who may have left */
export function MemberSelect(props: {
  readonly label: string
  readonly value: string | undefined
  readonly name: string | undefined
  readonly onChange: (userId: string | undefined) => void
}) {
  const { label, value, name, onChange } = props
  const [typed, setTyped] = useState('')
  const [searched] = useDebouncedValue(typed === name ? '' : typed.trim(), DEBOUNCE_MS)
  const found = useMembers(searched)
  const names = new Map(found.data?.map((member) => [member.user_id, member.name]))
  if (value !== undefined && !names.has(value)) names.set(value, name ?? t('ui.list.selected'))
  return (
    <Select
      label={label}
      searchable
      clearable
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
      searchValue={typed}
      onSearchChange={(next) => setTyped(next.slice(0, MAX_SEARCH))}
      data={[...names].map(([id, text]) => ({ value: id, label: text }))}
      // The platform has searched already.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? t('common.searching') : t('ui.list.noMatches')}
    />
  )
}

const columns: readonly TableColumn<Member>[] = [
  [
    t('organization.members.member'),
    ({ name, email, is_program }) => (
      <>
        <Text inherit>{name}</Text>
        <Note>{is_program ? t('organization.members.program') : email}</Note>
      </>
    ),
    { style: { overflowWrap: 'anywhere' } },
  ],
  [t('organization.members.role'), ({ role }) => organizationRoleTexts[role]],
  [t('organization.members.groups'), ({ group_ids }) => <GroupNames ids={group_ids} />],
]
const actions: TableColumn<Member> = [
  t('organization.members.actions'),
  (member) => <MemberActions member={member} />,
]

/** Shows the names of the groups whose robots a member sees. */
export function GroupNames({ ids }: { ids: readonly string[] | null }) {
  const groups = useGroups().data?.groups ?? []
  if (ids === null) return t('organization.members.allRobots')
  return shortList.format(groups.filter(({ id }) => ids.includes(id)).map(({ name }) => name))
}

function MemberActions({ member }: { member: Member }) {
  const me = useMe()
  const { role } = useOrganization()
  const { id, key } = useRoutes()
  const params = { path: { id, user_id: member.user_id } }
  const remove = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/members/{user_id}', { params }),
    key,
  )
  const { name, user_id } = member
  // Only owners change owners. Who wants to go leaves.
  if (user_id === me.id || (member.role === 'owner' && role !== 'owner')) return null
  return (
    <Group gap="xs" wrap="nowrap">
      <ChangeMember member={member} />
      <ConfirmButton
        size="xs"
        question={t('organization.members.removeQuestion', { name })}
        consequence={t('organization.members.removeConsequence')}
        confirmLabel={t('common.remove')}
        onConfirm={() => remove()}
        aria-label={t('organization.members.removeLabel', { name })}
      />
    </Group>
  )
}

function ChangeMember({ member }: { member: Member }) {
  const { id, key } = useRoutes()
  const [opened, { open, close }] = useDisclosure(false)
  const current = (): Rights => ({ role: member.role, groupIds: member.group_ids ?? [] })
  const { values, setValues, change } = useFields(current)
  const save = useWrite(
    (rest) =>
      rest.PATCH('/api/organizations/{id}/members/{user_id}', {
        params: { path: { id, user_id: member.user_id } },
        body: { role: values.role, groupIds: groupIdsOf(values) },
      }),
    { refresh: [key], onSuccess: close },
  )
  const start = () => {
    save.reset()
    setValues(current())
    open()
  }
  const { name } = member
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={start}
        aria-label={t('organization.members.changeLabel', { name })}
      >
        {t('organization.members.change')}
      </Button>
      <Modal opened={opened} onClose={close} title={t('organization.members.changeLabel', { name })}>
        <Form onSubmit={() => save.mutate()}>
          <RightsFields values={values} change={change} />
          <Problem error={save.error} />
          <DialogButtons onCancel={close} loading={save.isPending}>
            {t('common.save')}
          </DialogButtons>
        </Form>
      </Modal>
    </>
  )
}
