import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { SessionStatus } from '@wheelhouse/protocol'
import { type ReactNode, useEffect } from 'react'
import { usePlatform } from '../app/platform.ts'
import { useMe } from '../auth/me.ts'
import { useLiveSession } from '../live/hooks.ts'
import { type SessionDetail, sessionQuery } from '../session/session-query.ts'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { ResourcePage } from '../ui/resource-page.tsx'
import { Empty, Loading } from '../ui/states.tsx'
import { CockpitView } from './cockpit-view.tsx'

/** Shows the cockpit to the operator of a session. */
export function DrivePage() {
  const { sessionId } = useParams({ from: '/full-window/drive/$sessionId' })
  const { rest } = usePlatform()
  const query = useQuery(sessionQuery(rest, sessionId))
  return (
    <ResourcePage query={query} kind="Session" back={<LinkButton to="/sessions">All sessions</LinkButton>}>
      {(session) => <OperatorCockpit key={sessionId} session={session} fetchedAtMs={query.dataUpdatedAt} />}
    </ResourcePage>
  )
}

function OperatorCockpit({ session, fetchedAtMs }: { session: SessionDetail; fetchedAtMs: number }) {
  const me = useMe()
  const live = useLiveSession(session.id)
  const status = live?.session?.status ?? session.status
  const title = `Drive ${session.robot_name}`
  useEffect(() => {
    document.title = `${title} · Wheelhouse`
  }, [title])
  if (session.operator_id !== me.id) {
    return (
      <DriveUnavailable session={session} title="You are not the operator of this session">
        You can watch the session and stop the robot on its page.
      </DriveUnavailable>
    )
  }
  if (status !== 'ACTIVE' && status !== 'PAUSED') return <NotOpen session={session} status={status} />
  if (!live) return <Loading />
  return <CockpitView session={session} fetchedAtMs={fetchedAtMs} live={live} status={status} />
}

const NotOpen = ({ session, status }: { session: SessionDetail; status: SessionStatus }) =>
  status === 'PENDING' ? (
    <DriveUnavailable session={session} title="This session has not started yet">
      Start it on its page.
    </DriveUnavailable>
  ) : (
    <DriveUnavailable session={session} title="Session ended">
      The robot has stopped and is available.
    </DriveUnavailable>
  )

const DriveUnavailable = (props: { session: SessionDetail; title: string; children: ReactNode }) => (
  <Page title={`Drive ${props.session.robot_name}`}>
    <Empty
      title={props.title}
      action={
        <LinkButton to="/sessions/$sessionId" params={{ sessionId: props.session.id }}>
          View session
        </LinkButton>
      }
    >
      {props.children}
    </Empty>
  </Page>
)
