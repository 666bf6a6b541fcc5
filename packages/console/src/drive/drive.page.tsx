import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { SessionStatus } from '@wheelhouse/protocol'
import { useEffect } from 'react'
import { LinkButton } from '../base/links.tsx'
import { ResourcePage } from '../base/section.tsx'
import { Loading } from '../base/states.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { useLiveSession } from '../platform/use-live.ts'
import { type SessionDetail, sessionQuery } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { CockpitView } from './cockpit-view.tsx'
import { SessionUnavailable } from './session-unavailable.tsx'

/** Shows the cockpit to the operator of a session. */
export function DrivePage() {
  const { sessionId } = useParams({ from: '/full-window/drive/$sessionId' })
  const { rest } = usePlatform()
  const query = useQuery(sessionQuery(rest, sessionId))
  return (
    <ResourcePage
      query={query}
      kind={t('drive.page.kind')}
      back={<LinkButton to="/sessions">{t('drive.page.allSessions')}</LinkButton>}
    >
      {(session) => <OperatorCockpit key={sessionId} session={session} fetchedAtMs={query.dataUpdatedAt} />}
    </ResourcePage>
  )
}

const headingOf = ({ robot_name }: SessionDetail) => t('drive.page.title', { robot: robot_name })

function OperatorCockpit({ session, fetchedAtMs }: { session: SessionDetail; fetchedAtMs: number }) {
  const me = useMe()
  const live = useLiveSession(session.id)
  const status = live?.session?.status ?? session.status
  const title = headingOf(session)
  useEffect(() => {
    document.title = `${title} · ${t('common.product')}`
  }, [title])
  if (session.operator_id !== me.id) {
    return (
      <SessionUnavailable session={session} heading={title} title={t('drive.page.notOperatorTitle')}>
        {t('drive.page.notOperatorText')}
      </SessionUnavailable>
    )
  }
  if (status !== 'ACTIVE' && status !== 'PAUSED') return <NotOpen session={session} status={status} />
  if (!live) return <Loading />
  return <CockpitView session={session} fetchedAtMs={fetchedAtMs} live={live} status={status} />
}

const NotOpen = ({ session, status }: { session: SessionDetail; status: SessionStatus }) =>
  status === 'PENDING' ? (
    <SessionUnavailable
      session={session}
      heading={headingOf(session)}
      title={t('drive.page.notStartedTitle')}
    >
      {t('drive.page.notStartedText')}
    </SessionUnavailable>
  ) : (
    <SessionUnavailable session={session} heading={headingOf(session)} title={t('drive.page.endedTitle')}>
      {t('drive.page.endedText')}
    </SessionUnavailable>
  )
