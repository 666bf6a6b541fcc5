import { SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { duration } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Loading, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { type LiveSession, useLiveSession } from '../platform/use-live.ts'
import { SessionRecording } from '../recording/recording-mark.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { ChatPanel } from './chat-panel.tsx'
import { EventLog } from './event-log.tsx'
import { LiveView } from './live-view.tsx'
import { SessionActions } from './session-actions.tsx'
import { isOpen, type SessionDetail, sessionQuery } from './session-query.ts'
import { Summary } from './summary.tsx'

/** Shows one session, live or afterwards. */
export function SessionPage() {
  const { sessionId } = useParams({ from: '/shell/sessions/$sessionId' })
  const { rest } = usePlatform()
  const query = useQuery(sessionQuery(rest, sessionId))
  const { data, error } = query
  if (!data && error instanceof ApiError && (error.status === 404 || error.status === 400)) {
    return <SessionNotFound />
  }
  return (
    <Page
      title={data ? t('session.page.titleOn', { robot: data.robot_name }) : t('session.page.title')}
      description={
        data && t('session.row.operatedBy', { type: data.robot_type, operator: data.operator_name })
      }
      actions={
        <LinkButton to="/sessions" variant="default" visibleFrom="sm">
          {t('session.page.all')}
        </LinkButton>
      }
    >
      <QueryView query={query}>
        {(session) => <SessionContent key={session.id} session={session} fetchedAtMs={query.dataUpdatedAt} />}
      </QueryView>
    </Page>
  )
}

const SessionNotFound = () => (
  <Page title={t('session.page.title')}>
    <Empty
      title={t('session.page.notFoundTitle')}
      action={<LinkButton to="/sessions">{t('session.page.all')}</LinkButton>}
    >
      {t('session.page.notFoundText')}
    </Empty>
  </Page>
)

function SessionContent({ session, fetchedAtMs }: { session: SessionDetail; fetchedAtMs: number }) {
  const live = useLiveSession(session.id)
  if (!live) return <Loading />
  const status = live.session?.status ?? session.status
  if (isOpen(status)) return <LiveView session={session} fetchedAtMs={fetchedAtMs} live={live} />
  return <NotOpen session={{ ...session, status }} live={live} />
}

/** Returns when a scheduled session starts, and how long it takes. */
function startText({ scheduled_for, planned_minutes }: SessionDetail): ReactNode {
  const time = scheduled_for ? <Time at={scheduled_for} exact /> : t('session.page.later')
  return planned_minutes === null
    ? textParts('session.page.starts', { time })
    : textParts('session.page.startsLength', { time, duration: duration(planned_minutes) })
}

/** Shows a scheduled or finished session. */
const NotOpen = ({ session, live }: { session: SessionDetail; live: LiveSession }) => (
  <Stack>
    <div>
      <SessionStatusLabel status={session.status} />
    </div>
    {session.status === 'PENDING' ? (
      <Section gap="xs" title={t('session.page.scheduled')}>
        <Text>{startText(session)}</Text>
        <SessionActions live={live} />
      </Section>
    ) : (
      <>
        <SessionRecording sessionId={session.id} />
        <Summary session={session} />
      </>
    )}
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Section gap="xs" title={t('session.page.chat')}>
        <ChatPanel live={live} />
      </Section>
      <Section gap="xs" title={t('session.page.eventLog')}>
        <EventLog live={live} />
      </Section>
    </SimpleGrid>
  </Stack>
)
