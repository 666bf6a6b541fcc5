import { useDocumentTitle } from '@mantine/hooks'
import { useParams, useSearch } from '@tanstack/react-router'
import { useDarkPage } from '../base/dark-page.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage } from '../base/section.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import {
  type Recording,
  type RecordingParts,
  useRecordingParts,
  useSessionRecording,
} from '../recording/recordings.ts'
import { type SessionDetail, useSession } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { OpenReplay } from './session-replay.tsx'

export function ReplayPage() {
  useDarkPage()
  const { sessionId } = useParams({ from: '/full-window/sessions/$sessionId/replay' })
  const session = useSession(sessionId)
  // At the same time, because the first picture waits for both.
  const recording = useSessionRecording(sessionId, { polls: true })
  const parts = useRecordingParts(recording.data ?? undefined)
  return (
    <ResourcePage
      query={session}
      kind={t('replay.page.kind')}
      back={<LinkButton to="/sessions">{t('session.page.all')}</LinkButton>}
    >
      {(session) => <SessionReplay key={session.id} session={session} recording={recording} parts={parts} />}
    </ResourcePage>
  )
}

function SessionReplay(props: {
  session: SessionDetail
  recording: ReturnType<typeof useSessionRecording>
  parts: ReturnType<typeof useRecordingParts>
}) {
  const { session, recording, parts } = props
  const search = useSearch({ from: '/full-window/sessions/$sessionId/replay' })
  const title = t('replay.page.title', { robot: session.robot_name })
  useDocumentTitle(`${title} · ${t('common.product')}`)
  const nothing = nothingIn(recording.data, parts.data)
  if (nothing)
    return (
      <Page title={title}>
        <Empty
          title={nothing[0]}
          action={
            <LinkButton to="/sessions/$sessionId" params={{ sessionId: session.id }}>
              {t('replay.page.session')}
            </LinkButton>
          }
        >
          {nothing[1]}
        </Empty>
      </Page>
    )
  return (
    <QueryView query={recording}>
      {(recording) =>
        recording && (
          <>
            {parts.data === undefined && <h1 hidden>{title}</h1>}
            <QueryView query={parts}>
              {(parts) => (
                <OpenReplay
                  session={session}
                  recording={recording}
                  parts={parts}
                  // Only where it begins: playing does not follow the address.
                  atSeconds={search.at === undefined ? search.t : secondsAt(recording, search.at)}
                />
              )}
            </QueryView>
          </>
        )
      }
    </QueryView>
  )
}

const secondsAt = ({ started_at }: Recording, at: string) => (Date.parse(at) - Date.parse(started_at)) / 1_000

/** Returns why there is nothing to see, as heading and text. */
function nothingIn(
  recording: Recording | null | undefined,
  parts: RecordingParts | undefined,
): readonly [heading: string, text: string] | undefined {
  if (recording === null) return [t('replay.page.noRecording'), t('replay.page.noRecordingText')]
  if (parts?.parts.length !== 0) return undefined
  return recording?.status === 'FAILED'
    ? [t('replay.page.failed'), t('replay.page.failedText')]
    : [t('replay.page.nothingYet'), t('replay.page.nothingYetText')]
}
