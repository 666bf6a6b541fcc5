import { SimpleGrid, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { duration } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Loading } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { type LiveSession, useLiveSession } from '../platform/use-live.ts'
import { RecordingLine } from '../recording/recording-mark.tsx'
import { useSessionRecording } from '../recording/recordings.ts'
import { ChatPanel } from '../session/chat-panel.tsx'
import { EndedStrip, RatingForm } from '../session/ended-strip.tsx'
import { EventLog } from '../session/event-log.tsx'
import { SessionActions } from '../session/session-actions.tsx'
import { isOpen, type SessionDetail, useSession, useSessionRoles } from '../session/session-query.ts'
import { Summary } from '../session/summary.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { LiveView } from './live-view.tsx'

// Most sessions are looked at while they run.
const EmbeddedReplay = lazy(async () => ({
  default: (await import('../replay/session-replay.tsx')).EmbeddedReplay,
}))

export function SessionPage() {
  const { sessionId } = useParams({ from: '/shell/sessions/$sessionId' })
  const query = useSession(sessionId)
  return (
    <ResourcePage
      query={query}
      kind={t('session.page.title')}
      back={<LinkButton to="/sessions">{t('session.page.all')}</LinkButton>}
    >
      {(session) => <SessionContent key={session.id} session={session} fetchedAtMs={query.dataUpdatedAt} />}
    </ResourcePage>
  )
}

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

/** Shows a scheduled or finished session: how it ended, its replay, and the summary. */
function NotOpen({ session, live }: { session: SessionDetail; live: LiveSession }) {
  const recording = useSessionRecording(session.id, { polls: true }).data
  const { manages, operator } = useSessionRoles(session)
  const isPending = session.status === 'PENDING'
  const mayRate = session.status === 'COMPLETED' && manages && !operator && session.rating === null
  return (
    <Page
      title={t('session.page.titleOn', { robot: session.robot_name })}
      description={
        <>
          {t('session.row.operatedBy', { type: session.robot_type, operator: session.operator_name })}{' '}
          <SessionStatusLabel status={session.status} />
        </>
      }
      actions={
        <LinkButton to="/sessions" variant="default" visibleFrom="sm">
          {t('session.page.all')}
        </LinkButton>
      }
    >
      {isPending ? (
        <Section gap="xs" title={t('session.page.scheduled')}>
          <Text>{startText(session)}</Text>
          <SessionActions live={live} />
        </Section>
      ) : (
        <EndedStrip session={session} events={live.events}>
          {mayRate && <RatingForm session={session} />}
        </EndedStrip>
      )}
      {recording && (
        <Suspense fallback={<Loading />}>
          <EmbeddedReplay session={session} recording={recording} />
        </Suspense>
      )}
      {recording && <RecordingLine recording={recording} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {!isPending && <Summary session={session} />}
        <Section gap="xs" title={t('session.page.eventLog')}>
          <EventLog live={live} />
        </Section>
        {(isPending || live.events.some(({ type }) => type === 'chat.message')) && (
          <Section gap="xs" title={t('session.page.chat')}>
            <ChatPanel live={live} height={isPending ? 120 : 240} />
          </Section>
        )}
      </SimpleGrid>
    </Page>
  )
}
