import { useNavigate, useSearch } from '@tanstack/react-router'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { shortList } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Empty } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { DataList } from '../list/data-list.tsx'
import { useListPages } from '../list/list-pages.ts'
import type { ListColumn } from '../list/list-types.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { StateLabel } from '../status/state-label.tsx'
import { roleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'
import { ListFreshness } from './freshness.tsx'
import { nextCursorOf, PAGE_SIZE, REFRESH_MS, readUserSearch } from './search.ts'

type User = Schemas['UserEntry']

const columns: readonly ListColumn<User>[] = [
  {
    header: t('admin.people.name'),
    width: 'minmax(0, 2fr)',
    card: 'title',
    cell: ({ id, display_name }) => (
      <LinkAnchor to="/admin/users/$userId" params={{ userId: id }} fw={600} inherit>
        {display_name}
      </LinkAnchor>
    ),
  },
  { header: t('admin.people.email'), width: 'minmax(0, 3fr)', cell: ({ email }) => email ?? '' },
  {
    header: t('admin.people.roles'),
    width: 'minmax(0, 2fr)',
    cell: ({ roles }) => shortList.format(roles.map((role) => roleTexts[role])) || t('admin.people.noRoles'),
  },
  {
    header: t('admin.people.status'),
    width: '8rem',
    card: 'end',
    cell: ({ suspended_at }) =>
      suspended_at !== null && <StateLabel shape="blind">{t('admin.people.suspended')}</StateLabel>,
  },
  {
    header: t('admin.people.lastSeen'),
    width: '8rem',
    cell: ({ last_seen_at: at }) => (at === null ? t('admin.people.never') : <Time at={at} />),
  },
  {
    header: t('admin.people.joined'),
    width: '8rem',
    card: 'none',
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

const filters = [
  {
    name: 'role',
    label: t('admin.people.role'),
    options: [
      { value: 'operator', label: t('admin.people.operators') },
      { value: 'client', label: t('admin.people.owners') },
      { value: 'admin', label: t('admin.people.admins') },
    ],
  },
  {
    name: 'suspended',
    label: t('admin.people.account'),
    options: [
      { value: 'true', label: t('admin.people.suspended') },
      { value: 'false', label: t('admin.people.notSuspended') },
    ],
  },
]

/** Lists all users. */
export const UsersPage = () => (
  <AdminPage title={t('admin.people.title')} description={t('admin.people.description')}>
    <UserList />
  </AdminPage>
)

function UserList() {
  const { rest } = usePlatform()
  const search = useSearch({ from: '/shell/admin/users' })
  const navigate = useNavigate({ from: '/admin/users' })
  const list = useListPages<User>({
    queryKey: [...keys.users, 'all', search],
    load: async (cursor, signal) => {
      const query = { ...search, limit: PAGE_SIZE, ...(cursor && { cursor }) }
      const request = rest.GET('/api/admin/users', { params: { query }, signal })
      const { users } = await answerOf(request)
      return { rows: users, next: nextCursorOf(await request) }
    },
    refreshMs: REFRESH_MS,
  })
  return (
    <>
      <ListFreshness list={list} />
      <DataList
        label={t('admin.people.title')}
        name="admin-users"
        columns={columns}
        list={list}
        search={search}
        readSearch={readUserSearch}
        onSearch={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
        searchHint={t('admin.people.searchHint')}
        filters={filters}
        empty={<Empty title={t('admin.people.emptyTitle')} />}
      />
    </>
  )
}
