import { TextInput } from '@mantine/core'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { SessionStatus } from '@wheelhouse/protocol'
import { duration, money } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty } from '../base/states.tsx'
import { DataList } from '../list/data-list.tsx'
import type { ListColumn } from '../list/list-types.ts'
import { RobotSelect } from '../list/server-select.tsx'
import { isOnlyAdmin, useMe } from '../platform/platform.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { ExportButtons } from './export-button.tsx'
import { readSessionSearch, type SessionSearch } from './list-search.ts'
import { Stars } from './rating.tsx'
import {
  isOperated,
  type ListedSession,
  RowActions,
  useSessionCounts,
  useSessionList,
  When,
} from './session-row.tsx'

/** The count of a status from which on the platform counts no further. */
const COUNT_LIMIT = 10_000

/** Shows the user's sessions. Those who are only admins take part in none: they see the sessions of all users. */
export const SessionsPage = () =>
  isOnlyAdmin(useMe()) ? <Navigate to="/admin/sessions" replace /> : <OwnSessions />

/** Lists the user's sessions. The query string holds search, filters and order. */
function OwnSessions() {
  const search = useSearch({ from: '/shell/sessions' })
  const navigate = useNavigate({ from: '/sessions' })
  const list = useSessionList(search)
  const { data: counts } = useSessionCounts(search)
  const go = (next: SessionSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  return (
    <Page
      title={t('session.list.title')}
      description={!list.hasMore && list.rows && totalsOf(list.rows)}
      actions={<ExportButtons search={search} />}
    >
      <DataList
        label={t('session.list.label')}
        name="sessions"
        columns={sessionColumns}
        list={list}
        search={search}
        readSearch={readSessionSearch}
        onSearch={go}
        searchHint={t('session.list.searchHint')}
        filters={[
          {
            name: 'status',
            label: t('session.list.status'),
            options: SessionStatus.options.map((value) => ({
              value,
              label: sessionStatusTexts[value],
              count: counts?.by_status[value],
            })),
            countLimit: COUNT_LIMIT,
          },
        ]}
        fields={<ListFields search={search} onChange={go} />}
        empty={<Empty title={t('session.list.emptyTitle')}>{t('session.list.emptyText')}</Empty>}
        rowProps={({ id }) => ({ 'data-session': id })}
      />
    </Page>
  )
}

function totalsOf(rows: readonly ListedSession[]): string {
  const sum = (values: readonly (number | null)[]) =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0)
  return t('session.list.totals', {
    count: rows.length,
    duration: duration(sum(rows.map(({ duration_minutes: minutes }) => minutes))),
    amount: money(sum(rows.map(centsOf))),
  })
}

const sessionColumns: readonly ListColumn<ListedSession>[] = [
  {
    header: t('session.list.robot'),
    width: 'minmax(0, 3fr)',
    card: 'title',
    cell: ({ id, robot_name }) => (
      <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} fw={600} inherit>
        {robot_name}
      </LinkAnchor>
    ),
  },
  {
    header: t('session.list.status'),
    width: '7rem',
    card: 'end',
    cell: ({ status }) => <SessionStatusLabel status={status} />,
  },
  {
    header: t('session.list.time'),
    width: '14rem',
    sort: 'created_at',
    cell: (session) => <When session={session} />,
  },
  {
    header: t('session.list.operator'),
    width: 'minmax(0, 2fr)',
    from: 'lg',
    card: 'none',
    cell: (session) => <OperatorName session={session} />,
  },
  {
    header: t('session.list.duration'),
    width: '6rem',
    align: 'right',
    from: 'lg',
    cell: ({ duration_minutes: minutes }) => (minutes === null ? '' : duration(minutes)),
  },
  { header: t('session.list.amount'), width: '6rem', align: 'right', from: 'lg', cell: amountOf },
  {
    header: t('session.list.rating'),
    width: '6rem',
    align: 'right',
    from: 'xl',
    cell: ({ rating }) => rating !== null && <Stars count={rating} />,
  },
  {
    header: t('session.list.actions'),
    width: '11rem',
    align: 'right',
    card: 'buttons',
    cell: (session) => <RowActions session={session} size="compact-xs" />,
  },
]

function OperatorName({ session }: { session: ListedSession }) {
  const me = useMe()
  return isOperated(session) ? me.display_name : session.operator_name
}

/** Returns what the viewer earns in a session, or pays for it. Empty until the session has ended. */
function amountOf(session: ListedSession): string {
  const cents = centsOf(session)
  return cents === null ? '' : money(cents)
}

const centsOf = (session: ListedSession) =>
  'operator_earnings_cents' in session ? session.operator_earnings_cents : session.client_charge_cents

function ListFields(props: { search: SessionSearch; onChange: (next: SessionSearch) => void }) {
  const { search, onChange } = props
  const change = (part: Readonly<Record<string, unknown>>) =>
    onChange(readSessionSearch({ ...search, ...part }))
  const date = (name: 'from' | 'to', label: string) => (
    <TextInput
      type="date"
      label={label}
      value={search[name] ?? ''}
      onChange={({ currentTarget: { value } }) => change({ [name]: value })}
    />
  )
  return (
    <>
      <RobotSelect value={search.robot} onChange={(robot) => change({ robot })} />
      {date('from', t('session.list.createdFrom'))}
      {date('to', t('session.list.createdTo'))}
    </>
  )
}
