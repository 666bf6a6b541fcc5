import { Button, Group, MantineProvider, Modal, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import 'uplot/dist/uPlot.min.css'
import { DataTable } from '../base/data-table.tsx'
import { LinkButton } from '../base/links.tsx'
import { Empty, Loading, Problem, QueryView } from '../base/states.tsx'
import { cssVariables, theme } from '../base/theme.ts'
import { Time } from '../base/time.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useLiveSession } from '../platform/use-live.ts'
import type {
  Bookmark,
  RecordedEpisode,
  Recording,
  RecordingDownload,
  RecordingParts,
  SessionEpisodes,
} from '../recording/recordings.ts'
import { useRecordingParts, useRecordingsApi, useSessionEpisodes } from '../recording/use-recordings.ts'
import { FoxgloveDialog } from '../session/foxglove-dialog.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { readSchemas, useReplay } from './open-replay.ts'
import { copyAddress, ShareDialog } from './share-dialog.tsx'
import { RecordingNotice, ReplayHeader } from './view/header.tsx'
import { IconChevronLeft, IconExpand } from './view/replay-icons.tsx'
import { ReplayView } from './view/replay-view.tsx'

interface OpenProps {
  readonly session: SessionDetail
  readonly recording: Recording
  readonly parts: RecordingParts
  /** Where it begins, in seconds since the start; undefined for the first picture. */
  readonly atSeconds?: number | undefined
  /** Whether it is a part of the page of the session. */
  readonly isEmbedded?: boolean
}

/** Shows what was recorded of a session, with all that a participant may do with it. */
export function OpenReplay({ session, recording, parts, atSeconds, isEmbedded = false }: OpenProps) {
  const { session: guard } = usePlatform()
  const startMs = Date.parse(recording.started_at)
  const me = useMe()
  const navigate = useNavigate()
  const router = useRouter()
  const queries = useQueryClient()
  const api = useRecordingsApi()
  const live = useLiveSession(session.id)
  const shownEpisodes = useShownEpisodes(session.id)
  const schemas = useSchemas(session)
  const replay = useReplay({ recording, parts, schemas, send: guard.fetch, atSeconds })
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
  const path = router.buildLocation({
    to: '/sessions/$sessionId/replay',
    params: { sessionId: session.id },
  }).href
  const copyLink = () => void copyAddress(path, replay.clock.position.get() - startMs)
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
        isEmbedded={isEmbedded}
        header={
          <ReplayHeader
            recording={recording}
            operatorName={session.operator_name}
            back={isEmbedded ? <FullReplay sessionId={session.id} /> : <Back sessionId={session.id} />}
            onCopyLink={copyLink}
            onShare={isOwner ? () => setDialog('share') : undefined}
            onFoxglove={() => setDialog('foxglove')}
            onDownloads={() => setDialog('downloads')}
            onDelete={isOwner && recording.status !== 'RECORDING' ? () => setDialog('remove') : undefined}
          />
        }
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

const Back = ({ sessionId }: { sessionId: string }) => (
  <LinkButton
    to="/sessions/$sessionId"
    params={{ sessionId }}
    variant="subtle"
    color="gray"
    px={11}
    aria-label={t('replay.page.session')}
    leftSection={<IconChevronLeft size={18} />}
    styles={{ section: { margin: 0 } }}
  />
)

const FullReplay = ({ sessionId }: { sessionId: string }) => (
  <LinkButton
    to="/sessions/$sessionId/replay"
    params={{ sessionId }}
    variant="default"
    leftSection={<IconExpand size={16} />}
    aria-label={t('recording.section.replay')}
  >
    {t('recording.section.replay')}
  </LinkButton>
)

/** Shows the replay of a session on its page, dark on a light page too; nothing until something is stored. */
export function EmbeddedReplay({ session, recording }: Pick<OpenProps, 'session' | 'recording'>) {
  const { data: parts } = useRecordingParts(recording)
  if (!parts || parts.parts.length === 0) return null
  return (
    <div id="replay" data-mantine-color-scheme="dark">
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        cssVariablesSelector="#replay"
        getRootElement={() => undefined}
        forceColorScheme="dark"
      >
        <OpenReplay session={session} recording={recording} parts={parts} isEmbedded />
      </MantineProvider>
    </div>
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

const NO_BOOKMARKS: readonly Bookmark[] = []

/** Queries the bookmarks of a recording, with the actions on them. */
function useBookmarks(recordingId: string) {
  const api = useRecordingsApi()
  const queries = useQueryClient()
  const meId = useMe().id
  const queryKey = [...keys.recordings, recordingId, 'bookmarks']
  const query = useQuery({ queryKey, queryFn: () => api.bookmarks(recordingId) })
  const settle = () => queries.invalidateQueries({ queryKey })
  return {
    bookmarks: query.data?.bookmarks ?? NO_BOOKMARKS,
    actions: {
      add: (atMs: number, label: string) =>
        api.addBookmark(recordingId, { at: new Date(atMs).toISOString(), label }).finally(settle),
      remove: (id: string) => api.removeBookmark(recordingId, id).finally(settle),
      mayRemove: ({ bookmark }: { bookmark: Bookmark }) => bookmark.user_id === meId,
    },
  }
}

const NO_EPISODES: readonly RecordedEpisode[] = []

/** Returns the episodes of a session and the one that runs, stable while the answer is. */
function useShownEpisodes(sessionId: string): readonly RecordedEpisode[] {
  const state = useSessionEpisodes(sessionId).data
  return useMemo(() => withRunning(state), [state])
}

function withRunning(state: SessionEpisodes | null | undefined): readonly RecordedEpisode[] {
  if (!state) return NO_EPISODES
  const { episodes, running } = state
  if (!running) return episodes
  const id = `running ${running.started_at}`
  return [...episodes, { ...running, id, episode_id: id, ended_at: null, success: null, source: 'platform' }]
}

interface Props {
  readonly opened: boolean
  readonly onClose: () => void
  readonly onRemove: () => Promise<unknown>
}

/** Asks before a recording is deleted. */
function RemoveDialog({ opened, onClose, onRemove }: Props) {
  const remove = useMutation({ mutationFn: onRemove })
  return (
    <Modal opened={opened} onClose={onClose} title={t('replay.remove.question')}>
      <Stack>
        <Text>{t('replay.remove.consequence')}</Text>
        <Problem error={remove.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('common.cancel')}
          </Button>
          <Button color="red.9" loading={remove.isPending} onClick={() => remove.mutate()}>
            {t('replay.remove.confirm')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const kindTexts: Readonly<Record<RecordingDownload['kind'], string>> = {
  file: t('replay.downloads.file'),
  replay: t('replay.downloads.replay'),
  export: t('replay.downloads.export'),
  foxglove: t('replay.downloads.foxglove'),
}

/** Lists who has read the recording. */
const DownloadsDialog = (props: { recordingId: string; opened: boolean; onClose: () => void }) => (
  <Modal opened={props.opened} onClose={props.onClose} title={t('replay.downloads.title')} size="lg">
    <Text size="sm" mb="sm">
      {t('replay.downloads.explanation')}
    </Text>
    {props.opened && <Downloads recordingId={props.recordingId} />}
  </Modal>
)

function Downloads({ recordingId }: { recordingId: string }) {
  const api = useRecordingsApi()
  const query = useQuery({
    queryKey: [...keys.recordings, recordingId, 'downloads'],
    queryFn: () => api.downloads(recordingId),
  })
  return (
    <QueryView
      query={query}
      isEmpty={({ downloads }) => downloads.length === 0}
      empty={<Empty title={t('replay.downloads.empty')} />}
    >
      {({ downloads }) => (
        <DataTable
          label={t('replay.downloads.title')}
          minWidth={360}
          columns={[t('replay.downloads.time'), t('replay.downloads.user'), t('replay.downloads.kind')]}
        >
          {downloads.map(({ at, user_id, user_name, kind }) => (
            <Table.Tr key={`${at} ${user_id} ${kind}`}>
              <Table.Td>
                <Time at={at} exact />
              </Table.Td>
              <Table.Td>{user_name ?? t('replay.downloads.link')}</Table.Td>
              <Table.Td>{kindTexts[kind]}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </QueryView>
  )
}
