import { Stack, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useParams } from '@tanstack/react-router'
import { type ComponentProps, type ComponentType, type ReactNode, useState } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage } from '../base/section.tsx'
import { Empty, Loading } from '../base/states.tsx'
import { useMe } from '../platform/platform.ts'
import { useLiveSession } from '../platform/use-live.ts'
import { useControlKind, useControlLease } from '../session/control-query.ts'
import { EndedStrip } from '../session/ended-strip.tsx'
import { isOpen, type SessionDetail, useSession } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { CockpitView } from './cockpit-view.tsx'
import { WatchView } from './watch-view.tsx'

/** Shows the cockpit of a session to those who may control its robot. */
export const DrivePage = () => (
  <SessionPage {...useParams({ from: '/full-window/drive/$sessionId' })} View={DrivenSession} />
)

/** Shows an open session in the view of the cockpit to those who may see it and do not drive. */
export const WatchPage = () => (
  <SessionPage {...useParams({ from: '/full-window/watch/$sessionId' })} View={WatchedSession} />
)

type ViewProps = Omit<ComponentProps<typeof WatchView>, 'live'>

function SessionPage({ sessionId, View }: { sessionId: string; View: ComponentType<ViewProps> }) {
  const query = useSession(sessionId)
  return (
    <ResourcePage
      query={query}
      kind={t('drive.page.kind')}
      back={<LinkButton to="/sessions">{t('drive.page.allSessions')}</LinkButton>}
    >
      {(session) => <View key={sessionId} session={session} fetchedAtMs={query.dataUpdatedAt} />}
    </ResourcePage>
  )
}

function DrivenSession({ session, fetchedAtMs }: ViewProps) {
  const heading = t('drive.page.title', { robot: session.robot_name })
  const { live, status } = useView(session, heading)
  const page = { session, heading }
  const lease = useControlLease(session.id)
  const mayNow = useControlKind(session, lease) !== undefined
  // A guest who gives control back stays: what made the user one is no part of the lease any more.
  const [mayControl, setMayControl] = useState(mayNow)
  if (mayNow && !mayControl) setMayControl(true)
  if (!mayControl && lease === undefined) return <Loading />
  if (!mayControl) {
    return (
      <Unavailable {...page} title={t('drive.page.notOperatorTitle')}>
        {t('drive.page.notOperatorText')}
      </Unavailable>
    )
  }
  if (status === 'PENDING') return <NotStarted {...page}>{t('drive.page.notStartedText')}</NotStarted>
  if (!isOpen(status)) return <Ended {...page}>{t('drive.page.endedText')}</Ended>
  if (!live) return <Loading />
  return <CockpitView session={session} fetchedAtMs={fetchedAtMs} live={live} status={status} />
}

function WatchedSession({ session, fetchedAtMs }: ViewProps) {
  const heading = t('drive.watch.title', { robot: session.robot_name })
  const { meId, live, status } = useView(session, heading)
  const page = { session, heading }
  if (status === 'PENDING') return <NotStarted {...page}>{t('drive.watch.notStartedText')}</NotStarted>
  if (!isOpen(status)) return <Ended {...page}>{t('drive.watch.endedText')}</Ended>
  if (session.operator_id === meId && session.client_id !== meId && !session.own_operator) {
    const action = (
      <LinkButton to="/drive/$sessionId" params={{ sessionId: session.id }}>
        {t('session.live.openCockpit')}
      </LinkButton>
    )
    return (
      <Unavailable {...page} title={t('drive.watch.operatorTitle')} action={action}>
        {t('drive.watch.operatorText')}
      </Unavailable>
    )
  }
  if (!live) return <Loading />
  return <WatchView session={{ ...session, status }} fetchedAtMs={fetchedAtMs} live={live} />
}

function useView(session: SessionDetail, heading: string) {
  const live = useLiveSession(session.id)
  useDocumentTitle(`${heading} · ${t('common.product')}`)
  return { meId: useMe().id, live, status: live?.session?.status ?? session.status }
}

interface UnavailableProps {
  readonly session: SessionDetail
  readonly heading: string
  readonly children: ReactNode
}

const NotStarted = (props: UnavailableProps) => (
  <Unavailable {...props} title={t('drive.page.notStartedTitle')} />
)

const Ended = (props: UnavailableProps) => <Unavailable {...props} title={t('drive.page.endedTitle')} />

/**
 * Explains why a session has no view that fills the window, and how to go on: by default on its page. After its end it says how
 * it ended.
 */
function Unavailable(props: UnavailableProps & { readonly title: string; readonly action?: ReactNode }) {
  const { session, heading, title, action, children } = props
  const events = useLiveSession(session.id)?.events
  const link = (
    <LinkButton to="/sessions/$sessionId" params={{ sessionId: session.id }} variant="default">
      {t('drive.page.viewSession')}
    </LinkButton>
  )
  const hasEnded = session.status === 'COMPLETED' || session.status === 'CANCELLED'
  return (
    <Page title={heading}>
      {hasEnded && action === undefined ? (
        <Stack w="100%" maw={760} mx="auto" mt="8vh">
          <Title order={2}>{title}</Title>
          <EndedStrip session={session} events={events}>
            {link}
          </EndedStrip>
        </Stack>
      ) : (
        <Empty title={title} action={action ?? link}>
          {children}
        </Empty>
      )}
    </Page>
  )
}
