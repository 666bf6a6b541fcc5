import { Box } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useDarkPage } from '../base/dark-page.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage } from '../base/section.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import type { Recording } from '../recording/recordings.ts'
import { useRecordingParts, useSessionRecording } from '../recording/use-recordings.ts'
import { type SessionDetail, useSession } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { OpenReplay } from './session-replay.tsx'

export function ReplayPage() {
  useDarkPage()
  const { sessionId } = useParams({ from: '/full-window/sessions/$sessionId/replay' })
  const session = useSession(sessionId)
  // At the same time, because the first picture waits for it.
  const recording = useSessionRecording(sessionId).data
  useRecordingParts(recording ?? undefined)
  return (
    <ResourcePage
      query={session}
      kind={t('replay.page.kind')}
      back={<LinkButton to="/sessions">{t('session.page.all')}</LinkButton>}
    >
      {(session) => <SessionReplay key={session.id} session={session} />}
    </ResourcePage>
  )
}

const BackToSession = ({ sessionId }: { sessionId: string }) => (
  <LinkButton to="/sessions/$sessionId" params={{ sessionId }}>
    {t('replay.page.session')}
  </LinkButton>
)

function SessionReplay({ session }: { session: SessionDetail }) {
  const query = useSessionRecording(session.id, { polls: true })
  const title = t('replay.page.title', { robot: session.robot_name })
  useDocumentTitle(`${title} · ${t('common.product')}`)
  if (query.data === null) {
    return (
      <Nothing title={title} sessionId={session.id} heading={t('replay.page.noRecording')}>
        {t('replay.page.noRecordingText')}
      </Nothing>
    )
  }
  return (
    <QueryView query={query}>
      {(recording) => recording && <WithParts session={session} recording={recording} title={title} />}
    </QueryView>
  )
}

const Nothing = (props: { title: string; sessionId: string; heading: string; children: ReactNode }) => (
  <Page title={props.title}>
    <Empty title={props.heading} action={<BackToSession sessionId={props.sessionId} />}>
      {props.children}
    </Empty>
  </Page>
)

function WithParts(props: { session: SessionDetail; recording: Recording; title: string }) {
  const { session, recording, title } = props
  const query = useRecordingParts(recording)
  const search = useSearch({ from: '/full-window/sessions/$sessionId/replay' })
  // Only where it begins: playing does not follow the address.
  const [firstSeconds] = useState(() =>
    search.at === undefined ? search.t : (Date.parse(search.at) - Date.parse(recording.started_at)) / 1_000,
  )
  const nothing = { title, sessionId: session.id }
  if (query.data?.parts.length === 0) {
    if (recording.status === 'FAILED')
      return (
        <Nothing {...nothing} heading={t('replay.page.failed')}>
          {t('replay.page.failedText')}
        </Nothing>
      )
    return (
      <Nothing {...nothing} heading={t('replay.page.nothingYet')}>
        {t('replay.page.nothingYetText')}
      </Nothing>
    )
  }
  return (
    <Box>
      {query.data === undefined && <h1 hidden>{title}</h1>}
      <QueryView query={query}>
        {(parts) => <OpenReplay {...props} parts={parts} atSeconds={firstSeconds} />}
      </QueryView>
    </Box>
  )
}
