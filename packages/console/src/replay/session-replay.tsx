import {
  Button,
  Group,
  List,
  MantineProvider,
  Menu,
  Modal,
  type ModalProps,
  NativeSelect,
  Stack,
  Switch,
  Text,
} from '@mantine/core'
import { useNavigate, useRouter } from '@tanstack/react-router'
import type { Schemas } from '@wheelhouse/sdk'
import { useMemo, useState } from 'react'
import 'uplot/dist/uPlot.min.css'
import { ConfirmDialog } from '../base/confirm-button.tsx'
import { CopyableSecret } from '../base/copyable.tsx'
import { RowTable } from '../base/data-table.tsx'
import { IconChevronLeft } from '../base/icons.tsx'
import { LinkButton } from '../base/links.tsx'
import { Empty, Loading, Problem, QueryView } from '../base/states.tsx'
import { cssVariables, theme } from '../base/theme.ts'
import { Time } from '../base/time.tsx'
import { useMay, useOrganization } from '../platform/organization.ts'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId, useAction, useRead, useWrite } from '../platform/rest.ts'
import { useLiveSession } from '../platform/use-live.ts'
import {
  type Bookmark,
  type RecordedEpisode,
  type Recording,
  type RecordingParts,
  type RecordingShare,
  useRecordingParts,
  useSessionEpisodes,
} from '../recording/recordings.ts'
import { participantsOf } from '../session/event-texts.ts'
import { FoxgloveDialog } from '../session/foxglove-dialog.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { copyMoment, momentAddress, readSchemas, useReplay } from './open-replay.ts'
import type { Replay } from './player/replay.ts'
import { IconExpand } from './view/replay-icons.tsx'
import { preciseClock } from './view/replay-time.ts'
import { ReplayView } from './view/replay-view.tsx'

interface OpenProps {
  readonly session: SessionDetail
  readonly recording: Recording
  readonly parts: RecordingParts
  /** Where it begins, in seconds since the start; undefined for the first picture. */
  readonly atSeconds?: number | undefined
  readonly isEmbedded?: boolean
}

/** Shows what was recorded of a session, with all that a participant may do with it. */
export function OpenReplay({ session, recording, parts, atSeconds, isEmbedded = false }: OpenProps) {
  const { session: guard } = usePlatform()
  const me = useMe()
  const organization = useOrganization()
  const may = useMay()
  const router = useRouter()
  const episodes = useShownEpisodes(session.id)
  const { telemetry_schema, control_schema } = session
  // Queries keep what is equal in a newer answer.
  const schemas = useMemo(
    () => readSchemas(telemetry_schema, control_schema),
    [telemetry_schema, control_schema],
  )
  const replay = useReplay({ recording, parts, schemas, send: guard.fetch, atSeconds })
  const { bookmarks, actions } = useBookmarks(recording.id)
  const liveLog = useLiveSession(session.id)?.events
  const participants = useMemo(() => participantsOf(session, me.id), [session, me.id])
  const [dialog, setDialog] = useState<'share' | 'foxglove' | 'downloads' | 'remove'>()
  if (!replay) return <Loading />
  const isOwner =
    (session.client_id === organization.id && may('recordings.write')) || me.roles.includes('admin')
  const link = { params: { sessionId: session.id } }
  const page = router.buildLocation({ to: '/sessions/$sessionId/replay', ...link }).href
  const modalProps = (name: typeof dialog) => ({
    opened: dialog === name,
    onClose: () => setDialog(undefined),
  })
  return (
    <>
      <ReplayView
        replay={replay}
        recording={recording}
        parts={parts}
        episodes={episodes}
        schemas={schemas}
        liveLog={liveLog}
        participants={participants}
        bookmarks={bookmarks}
        bookmarkActions={actions}
        isEmbedded={isEmbedded}
        operatorName={session.operator_name}
        back={
          isEmbedded ? (
            <LinkButton
              to="/sessions/$sessionId/replay"
              {...link}
              variant="default"
              leftSection={<IconExpand size={16} />}
              aria-label={t('recording.section.replay')}
            >
              {t('recording.section.replay')}
            </LinkButton>
          ) : (
            <LinkButton
              to="/sessions/$sessionId"
              {...link}
              variant="subtle"
              color="gray"
              px={11}
              aria-label={t('replay.page.session')}
              leftSection={<IconChevronLeft size={18} />}
              styles={{ section: { margin: 0 } }}
            />
          )
        }
        onCopyLink={() => copyMoment(new URL(page, location.origin).href, replay)}
        onShare={isOwner ? () => setDialog('share') : undefined}
        menu={
          <>
            <Menu.Item onClick={() => setDialog('foxglove')}>{t('foxglove.title')}</Menu.Item>
            <Menu.Item onClick={() => setDialog('downloads')}>{t('replay.downloads.title')}</Menu.Item>
            {isOwner && recording.status !== 'RECORDING' && (
              <Menu.Item c="var(--mantine-color-error)" onClick={() => setDialog('remove')}>
                {t('replay.remove.title')}
              </Menu.Item>
            )}
          </>
        }
      />
      <Modal {...modalProps('share')} title={t('replay.share.title')}>
        {dialog === 'share' && <Shares recordingId={recording.id} replay={replay} />}
      </Modal>
      <FoxgloveDialog {...modalProps('foxglove')} sessionId={session.id} />
      <DownloadsDialog {...modalProps('downloads')} recordingId={recording.id} />
      <RemoveDialog {...modalProps('remove')} recordingId={recording.id} sessionId={session.id} />
    </>
  )
}

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

const NO_BOOKMARKS: readonly Bookmark[] = []

function useBookmarks(id: string) {
  const meId = useMe().id
  const queryKey = [...keys.recordings, id, 'bookmarks']
  const query = useRead(queryKey, (rest) => rest.GET('/api/recordings/{id}/bookmarks', byId(id)))
  const options = { refresh: [queryKey], refreshesOnError: true }
  const add = useWrite(
    (rest, body: { at: string; label: string }) =>
      rest.POST('/api/recordings/{id}/bookmarks', { ...byId(id), body }),
    options,
  )
  const remove = useWrite(
    (rest, bookmark: string) =>
      rest.DELETE('/api/recordings/{id}/bookmarks/{bookmark}', { params: { path: { id, bookmark } } }),
    options,
  )
  return {
    bookmarks: query.data?.bookmarks ?? NO_BOOKMARKS,
    actions: {
      add: (atMs: number, label: string) => add.mutateAsync({ at: new Date(atMs).toISOString(), label }),
      remove: remove.mutateAsync,
      mayRemove: ({ bookmark }: { bookmark: Bookmark }) => bookmark.user_id === meId,
    },
  }
}

/** Returns the episodes of a session and the one that runs, stable while the answer is. */
function useShownEpisodes(sessionId: string): readonly RecordedEpisode[] {
  const { data } = useSessionEpisodes(sessionId)
  return useMemo(() => {
    const { episodes = [], running } = data ?? {}
    if (!running) return episodes
    const id = `running ${running.started_at}`
    return [
      ...episodes,
      { ...running, id, episode_id: id, ended_at: null, success: null, source: 'platform' },
    ]
  }, [data])
}

interface DialogProps extends Pick<ModalProps, 'opened' | 'onClose'> {
  readonly recordingId: string
}

function RemoveDialog({ recordingId, sessionId, ...dialog }: DialogProps & { sessionId: string }) {
  const navigate = useNavigate()
  const remove = useAction((rest) => rest.DELETE('/api/recordings/{id}', byId(recordingId)), keys.sessions)
  return (
    <ConfirmDialog
      {...dialog}
      question={t('replay.remove.question')}
      consequence={t('replay.remove.consequence')}
      confirmLabel={t('replay.remove.confirm')}
      onConfirm={() => remove().then(() => navigate({ to: '/sessions/$sessionId', params: { sessionId } }))}
    />
  )
}

const kindTexts: Readonly<Record<Schemas['RecordingDownload']['kind'], string>> = {
  file: t('replay.downloads.file'),
  replay: t('replay.downloads.replay'),
  export: t('replay.downloads.export'),
  foxglove: t('replay.downloads.foxglove'),
}

function DownloadsDialog({ recordingId, ...dialog }: DialogProps) {
  const query = useRead(
    [...keys.recordings, recordingId, 'downloads'],
    (rest) => rest.GET('/api/recordings/{id}/downloads', byId(recordingId)),
    { enabled: dialog.opened },
  )
  return (
    <Modal {...dialog} title={t('replay.downloads.title')} size="lg">
      <Text size="sm" mb="sm">
        {t('replay.downloads.explanation')}
      </Text>
      <QueryView
        query={query}
        isEmpty={({ downloads }) => downloads.length === 0}
        empty={<Empty title={t('replay.downloads.empty')} />}
      >
        {({ downloads }) => (
          <RowTable
            label={t('replay.downloads.title')}
            minWidth={360}
            rows={downloads}
            keyOf={({ at, user_id, kind }) => `${at} ${user_id} ${kind}`}
            columns={[
              [t('replay.downloads.time'), ({ at }) => <Time at={at} exact />],
              [t('replay.downloads.user'), ({ user_name }) => user_name ?? t('replay.downloads.link')],
              [t('replay.downloads.kind'), ({ kind }) => kindTexts[kind]],
            ]}
          />
        )}
      </QueryView>
    </Modal>
  )
}

const HOUR_CHOICES = [
  ['1', t('replay.share.hour')],
  ['24', t('replay.share.day')],
  ['168', t('replay.share.week')],
  ['720', t('replay.share.month')],
] as const

/** Creates links that expire, lists and revokes them. */
function Shares({ recordingId: id, replay }: { recordingId: string; replay: Replay }) {
  const queryKey = [...keys.recordings, id, 'shares']
  const shares = useRead(queryKey, (rest) => rest.GET('/api/recordings/{id}/shares', byId(id)))
  const [hours, setHours] = useState<string>('24')
  const [startsHere, setStartsHere] = useState(false)
  const [positionMs] = useState(() => replay.clock.position.get() - replay.startMs)
  const options = { refresh: [queryKey], refreshesOnError: true }
  const create = useWrite((rest, choice: { hours: string; startsHere: boolean }) => {
    const body = { expires_in_hours: Number(choice.hours) }
    return rest.POST('/api/recordings/{id}/shares', { ...byId(id), body })
  }, options)
  const address =
    create.data && create.variables.startsHere ? momentAddress(create.data.url, positionMs) : create.data?.url
  const revoke = useWrite(
    (rest, share: string) =>
      rest.DELETE('/api/recordings/{id}/shares/{share}', { params: { path: { id, share } } }),
    options,
  )
  return (
    <Stack>
      <Text size="sm">{t('replay.share.explanation')}</Text>
      <NativeSelect
        label={t('replay.share.expires')}
        data={HOUR_CHOICES.map(([value, label]) => ({ value, label }))}
        value={hours}
        onChange={({ currentTarget: { value } }) => setHours(value)}
      />
      <Switch
        label={t('replay.share.startsHere', { position: preciseClock(positionMs) })}
        checked={startsHere}
        onChange={({ currentTarget: { checked } }) => setStartsHere(checked)}
      />
      <Group>
        <Button loading={create.isPending} onClick={() => create.mutate({ hours, startsHere })}>
          {t('replay.share.create')}
        </Button>
      </Group>
      <Problem error={create.error ?? revoke.error} />
      {address && <CopyableSecret label={t('replay.share.link')} value={address} />}
      <QueryView query={shares} isEmpty={({ shares }) => shares.length === 0} empty={null}>
        {({ shares }) => (
          <List listStyleType="none" aria-label={t('replay.share.links')}>
            {shares.map((share) => (
              <List.Item key={share.id} py={2}>
                <Group justify="space-between" gap="xs">
                  <Text size="sm">{shareText(share)}</Text>
                  {isValid(share) && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() => revoke.mutate(share.id)}
                      loading={revoke.isPending && revoke.variables === share.id}
                    >
                      {t('replay.share.revoke')}
                    </Button>
                  )}
                </Group>
              </List.Item>
            ))}
          </List>
        )}
      </QueryView>
    </Stack>
  )
}

const isValid = ({ revoked_at, expires_at }: RecordingShare) =>
  revoked_at === null && Date.parse(expires_at) > Date.now()

function shareText(share: RecordingShare) {
  const created = <Time at={share.created_at} exact />
  if (share.revoked_at !== null) return textParts('replay.share.revoked', { created })
  const expires = <Time at={share.expires_at} exact />
  return isValid(share)
    ? textParts('replay.share.valid', { created, expires })
    : textParts('replay.share.expired', { created })
}
