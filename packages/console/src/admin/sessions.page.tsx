import { useNavigate, useSearch } from '@tanstack/react-router'
import { SessionStatus } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { LinkAnchor } from '../base/links.tsx'
import { Empty } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { DataList } from '../list/data-list.tsx'
import { useListPages } from '../list/list-pages.ts'
import type { ListColumn } from '../list/list-types.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { HoldButton } from '../stop/hold-button.tsx'
import { reasonText, sessionStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import styles from './admin.module.css'
import { AdminPage, UserLink } from './admin-page.tsx'
import { ListFreshness } from './freshness.tsx'
import { nextCursorOf, PAGE_SIZE, REFRESH_MS, readSessionSearch } from './search.ts'
import { useAdminStop } from './use-admin-stop.ts'

type Session = Schemas['SessionEntry']

const columns: readonly ListColumn<Session>[] = [
  {
    header: t('admin.sessions.robot'),
    width: 'minmax(0, 2fr)',
    card: 'title',
    cell: ({ id, robot_name }) => (
      <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} fw={600} inherit>
        {robot_name}
      </LinkAnchor>
    ),
  },
  {
    header: t('admin.sessions.status'),
    width: '7rem',
    card: 'end',
    cell: ({ status }) => <SessionStatusLabel status={status} />,
  },
  {
    header: t('admin.sessions.operator'),
    width: 'minmax(0, 2fr)',
    cell: ({ operator_id, operator_name }) => <UserLink id={operator_id} name={operator_name} />,
  },
  {
    header: t('admin.sessions.owner'),
    width: 'minmax(0, 2fr)',
    cell: ({ client_id, client_name }) => <UserLink id={client_id} name={client_name} />,
  },
  {
    header: t('admin.sessions.time'),
    width: '12rem',
    cell: ({ started_at, scheduled_for, created_at }) => (
      <Time at={started_at ?? scheduled_for ?? created_at} />
    ),
  },
  {
    header: t('admin.sessions.reason'),
    width: 'minmax(0, 2fr)',
    card: 'none',
    cell: (session) => <Reason session={session} />,
  },
  {
    header: t('admin.sessions.stop'),
    width: '9rem',
    card: 'buttons',
    cell: (session) => isOpen(session) && <HoldToStop session={session} />,
  },
]

const isOpen = ({ status }: Session) => status === 'ACTIVE' || status === 'PAUSED'

/** A stop in a list is held, so that no stray click stops a robot. */
const HOLD_MS = 600

function HoldToStop({ session: { id, robot_name: robot } }: { session: Session }) {
  const stop = useAdminStop(id)
  return (
    <>
      <HoldButton
        className={styles.stop ?? ''}
        aria-label={t('admin.sessions.holdLabel', { robot })}
        holdMs={HOLD_MS}
        onHold={() => stop.mutate()}
      >
        {t('admin.sessions.hold')}
      </HoldButton>
      {stop.isError && <b role="alert"> {t('admin.stop.failed')}</b>}
    </>
  )
}

function Reason({ session: { stopped, pause_reason } }: { session: Session }) {
  if (stopped) return <StateLabel shape="blind">{t('admin.sessions.stopped')}</StateLabel>
  return pause_reason === null ? '' : reasonText(pause_reason)
}

const statusFilter = {
  name: 'status',
  label: t('admin.sessions.status'),
  options: SessionStatus.options.map((value) => ({ value, label: sessionStatusTexts[value] })),
}

/** Lists the sessions of all users. */
export const AdminSessionsPage = () => (
  <AdminPage title={t('admin.sessions.title')} description={t('admin.sessions.description')}>
    <SessionList />
  </AdminPage>
)

function SessionList() {
  const { rest } = usePlatform()
  const search = useSearch({ from: '/shell/admin/sessions' })
  const navigate = useNavigate({ from: '/admin/sessions' })
  const list = useListPages<Session>({
    queryKey: [...keys.sessions, 'all', search],
    load: async (cursor, signal) => {
      const query = { ...search, limit: PAGE_SIZE, ...(cursor && { cursor }) }
      const request = rest.GET('/api/admin/sessions', { params: { query }, signal })
      const { sessions } = await answerOf(request)
      return { rows: sessions, next: nextCursorOf(await request) }
    },
    refreshMs: REFRESH_MS,
  })
  return (
    <>
      <ListFreshness list={list} />
      <DataList
        label={t('admin.sessions.title')}
        name="admin-sessions"
        columns={columns}
        list={list}
        search={search}
        readSearch={readSessionSearch}
        onSearch={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
        searchHint={t('admin.sessions.searchHint')}
        filters={[statusFilter]}
        empty={<Empty title={t('admin.sessions.emptyTitle')} />}
      />
    </>
  )
}
