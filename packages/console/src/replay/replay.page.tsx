import { Box } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import 'uplot/dist/uPlot.min.css'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useLiveSession } from '../platform/use-live.ts'
import type { Recording, RecordingParts } from '../recording/recordings.ts'
import { useRecordingParts, useRecordingsApi, useSessionRecording } from '../recording/use-recordings.ts'
import { FoxgloveDialog } from '../session/foxglove-dialog.tsx'
import { type SessionDetail, sessionQuery } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { ResourcePage } from '../ui/section.tsx'
import { Empty, Loading, QueryView } from '../ui/states.tsx'
import { copyAddress } from './moment-address.ts'
import { readSchemas, useReplay } from './open-replay.ts'
import { RecordingNotice } from './recording-notice.tsx'
import { useBookmarks } from './use-bookmarks.ts'
import { useShownEpisodes } from './use-shown-episodes.ts'
import { DownloadsDialog } from './view/downloads-dialog.tsx'
import { ReplayHeader } from './view/header.tsx'
import { RemoveDialog } from './view/remove-dialog.tsx'
import { ReplayView } from './view/replay-view.tsx'
import { ShareDialog } from './view/share-dialog.tsx'

/** Shows the recording of a session on one axis of time. */
export function ReplayPage() {
  const { sessionId } = useParams({ from: '/full-window/sessions/$sessionId/replay' })
  const { rest } = usePlatform()
  const session = useQuery(sessionQuery(rest, sessionId))
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
  useEffect(() => {
    document.title = `${title} · ${t('common.product')}`
  }, [title])
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
      <QueryView query={query}>{(parts) => <OpenReplay {...props} parts={parts} />}</QueryView>
    </Box>
  )
}

function OpenReplay(props: { session: SessionDetail; recording: Recording; parts: RecordingParts }) {
  const { session, recording, parts } = props
  const { session: guard } = usePlatform()
  const search = useSearch({ from: '/full-window/sessions/$sessionId/replay' })
  const startMs = Date.parse(recording.started_at)
  // Only where it begins: playing does not follow the address.
  const [firstSeconds] = useState(() =>
    search.at === undefined ? search.t : (Date.parse(search.at) - startMs) / 1_000,
  )
  const me = useMe()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const api = useRecordingsApi()
  const live = useLiveSession(session.id)
  const shownEpisodes = useShownEpisodes(session.id)
  const schemas = useSchemas(session)
  const replay = useReplay({ recording, parts, schemas, send: guard.fetch, atSeconds: firstSeconds })
  const { bookmarks, actions } = useBookmarks(recording.id)
  const [dialog, setDialog] = useState<'share' | 'foxglove' | 'downloads' | 'remove'>()
  const participants = useMemo(
    () => ({
      meId: me.id,
      operatorId: session.operator_id,
      operatorName: session.operator_name,
      clientId: session.client_id,
    }),
    [me.id, session.operator_id, session.operator_name, session.client_id],
  )
  if (!replay) return <Loading />
  const isOwner = session.client_id === me.id || me.roles.includes('admin')
  const copyLink = () => void copyAddress(replay.clock.position.get() - startMs)
  const close = () => setDialog(undefined)
  const remove = async () => {
    await api.remove(recording.id)
    await queries.invalidateQueries({ queryKey: keys.sessions })
    await navigate({ to: '/sessions/$sessionId', params: { sessionId: session.id } })
  }
  return (
    <>
      <ReplayView
        replay={replay}
        recording={recording}
        episodes={shownEpisodes}
        schemas={schemas}
        liveLog={live?.events}
        participants={participants}
        bookmarks={bookmarks}
        bookmarkActions={actions}
        onCopyLink={copyLink}
        notice={<RecordingNotice recording={recording} parts={parts} />}
        header={(onBookmark) => (
          <ReplayHeader
            recording={recording}
            operatorName={session.operator_name}
            back={
              <LinkAnchor
                to="/sessions/$sessionId"
                params={{ sessionId: session.id }}
                aria-label={t('replay.page.session')}
                underline="never"
                size="xl"
              >
                ‹
              </LinkAnchor>
            }
            onCopyLink={copyLink}
            onBookmark={onBookmark}
            onShare={isOwner ? () => setDialog('share') : undefined}
            onFoxglove={() => setDialog('foxglove')}
            onDownloads={() => setDialog('downloads')}
            onDelete={isOwner && recording.status !== 'RECORDING' ? () => setDialog('remove') : undefined}
          />
        )}
      />
      <ShareDialog
        recordingId={recording.id}
        opened={dialog === 'share'}
        onClose={close}
        startMs={startMs}
        atMs={replay.clock.position.get}
      />
      <FoxgloveDialog sessionId={session.id} opened={dialog === 'foxglove'} onClose={close} />
      <DownloadsDialog recordingId={recording.id} opened={dialog === 'downloads'} onClose={close} />
      <RemoveDialog opened={dialog === 'remove'} onClose={close} onRemove={remove} />
    </>
  )
}

/** Returns the schemas of the robot, stable while they are equal. */
function useSchemas({ telemetry_schema, control_schema }: SessionDetail) {
  const text = JSON.stringify([telemetry_schema, control_schema])
  return useMemo(() => {
    const [telemetry, control] = JSON.parse(text) as [unknown, unknown]
    return readSchemas(telemetry, control)
  }, [text])
}
