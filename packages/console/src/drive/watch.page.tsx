import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { LinkButton } from '../base/links.tsx'
import { ResourcePage } from '../base/section.tsx'
import { Loading } from '../base/states.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { useLiveSession } from '../platform/use-live.ts'
import { isOpen, type SessionDetail, sessionQuery } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { SessionUnavailable } from './session-unavailable.tsx'
import { WatchView } from './watch-view.tsx'

/** Shows an open session in the view of the cockpit to those who may see it and do not drive. */
export function WatchPage() {
  const { sessionId } = useParams({ from: '/full-window/watch/$sessionId' })
  const { rest } = usePlatform()
  const query = useQuery(sessionQuery(rest, sessionId))
  return (
    <ResourcePage
      query={query}
      kind={t('drive.page.kind')}
      back={<LinkButton to="/sessions">{t('drive.page.allSessions')}</LinkButton>}
    >
      {(session) => <WatchedSession key={sessionId} session={session} fetchedAtMs={query.dataUpdatedAt} />}
    </ResourcePage>
  )
}

function WatchedSession({ session, fetchedAtMs }: { session: SessionDetail; fetchedAtMs: number }) {
  const meId = useMe().id
  const live = useLiveSession(session.id)
  const status = live?.session?.status ?? session.status
  const heading = t('drive.watch.title', { robot: session.robot_name })
  useEffect(() => {
    document.title = `${heading} · ${t('common.product')}`
  }, [heading])
  const unavailable = { session, heading }
  if (status === 'PENDING') {
    return (
      <SessionUnavailable {...unavailable} title={t('drive.page.notStartedTitle')}>
        {t('drive.watch.notStartedText')}
      </SessionUnavailable>
    )
  }
  if (!isOpen(status)) {
    return (
      <SessionUnavailable {...unavailable} title={t('drive.page.endedTitle')}>
        {t('drive.watch.endedText')}
      </SessionUnavailable>
    )
  }
  if (session.operator_id === meId && session.client_id !== meId) {
    return <OwnCockpit session={session} heading={heading} />
  }
  if (!live) return <Loading />
  return <WatchView session={{ ...session, status }} fetchedAtMs={fetchedAtMs} live={live} />
}

const OwnCockpit = ({ session, heading }: { session: SessionDetail; heading: string }) => (
  <SessionUnavailable
    session={session}
    heading={heading}
    title={t('drive.watch.operatorTitle')}
    action={
      <LinkButton to="/drive/$sessionId" params={{ sessionId: session.id }}>
        {t('session.live.openCockpit')}
      </LinkButton>
    }
  >
    {t('drive.watch.operatorText')}
  </SessionUnavailable>
)
