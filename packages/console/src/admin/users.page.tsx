import { Badge } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { roleTexts } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { DataList } from '../ui/list/data-list.tsx'
import type { ListColumn } from '../ui/list/list-types.ts'
import { useListPages } from '../ui/list/use-list-pages.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { AdminPage } from './admin-page.tsx'
import { ListFreshness } from './freshness.tsx'
import { nextCursorOf, PAGE_SIZE, REFRESH_MS, readUserSearch } from './list-search.ts'

type User = Schemas['UserEntry']

const columns: readonly ListColumn<User>[] = [
  {
    header: 'Name',
    width: 'minmax(0, 2fr)',
    card: 'title',
    cell: ({ id, display_name }) => (
      <LinkAnchor to="/admin/users/$userId" params={{ userId: id }} fw={600} inherit>
        {display_name}
      </LinkAnchor>
    ),
  },
  { header: 'E-mail', width: 'minmax(0, 3fr)', cell: ({ email }) => email ?? '' },
  {
    header: 'Roles',
    width: 'minmax(0, 2fr)',
    cell: ({ roles }) => roles.map((role) => roleTexts[role]).join(', ') || 'none',
  },
  {
    header: 'Status',
    width: '8rem',
    card: 'end',
    cell: ({ suspended_at }) => suspended_at !== null && <Badge color="red.9">Suspended</Badge>,
  },
  {
    header: 'Last seen',
    width: '8rem',
    cell: ({ last_seen_at: at }) => (at === null ? 'never' : <Time at={at} />),
  },
  { header: 'Joined', width: '8rem', card: 'none', cell: ({ created_at }) => <Time at={created_at} /> },
]

const filters = [
  {
    name: 'role',
    label: 'Role',
    options: [
      { value: 'operator', label: 'Operators' },
      { value: 'client', label: 'Owners' },
      { value: 'admin', label: 'Admins' },
    ],
  },
  {
    name: 'suspended',
    label: 'Account',
    options: [
      { value: 'true', label: 'Suspended' },
      { value: 'false', label: 'Not suspended' },
    ],
  },
]

/** Lists all users. */
export const UsersPage = () => (
  <AdminPage title="People" description="Accounts with their roles, newest first.">
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
        label="People"
        name="admin-users"
        columns={columns}
        list={list}
        search={search}
        readSearch={readUserSearch}
        onSearch={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
        searchHint="Name, e-mail or id"
        filters={filters}
        empty={<Empty title="No people yet" />}
      />
    </>
  )
}
