import { ActionIcon, Badge, Box, Button, Menu, Modal, Tabs, Text, Title } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { dataSize, dateTime, labelInSentence } from '../../base/format.ts'
import { IconDots } from '../../base/icons.tsx'
import { KeyTable, type KeyTexts } from '../../base/key-table.tsx'
import { isTyping, latinKey } from '../../base/keys.ts'
import { useStore } from '../../base/store.ts'
import { RecordingStatusLabel } from '../../recording/recording-mark.tsx'
import type { Bookmark, RecordedEpisode, Recording, RecordingParts } from '../../recording/recordings.ts'
import type { SessionParticipants } from '../../session/event-texts.ts'
import { gapText } from '../../texts/code-texts.ts'
import { t } from '../../texts/texts.ts'
import { numberAt } from '../data/recording-source.ts'
import { RATES, type Replay, type ReplayCamera } from '../player/replay.ts'
import { type BookmarkActions, LogPanel, MarksPanel, NowPanel, PathMap } from './panels.tsx'
import { Cameras, Transport, type TransportProps } from './player.tsx'
import { isPlotShown, type PlotLine, PlotMenu, plotChoices, plotsOf, type RecordedSchemas } from './plots.tsx'
import styles from './replay.module.css'
import { IconDownload, IconShare } from './replay-icons.tsx'
import { usePosition } from './replay-time.ts'
import { Timeline, valueText } from './timeline.tsx'
import {
  episodeSpans,
  gapSpans,
  linkSpans,
  logEntries,
  type SpanKind,
  spanTexts,
  statesOf,
  stopFrom,
  type Tracks,
} from './tracks.ts'

interface ReplayViewProps {
  readonly replay: Replay
  readonly recording: Recording
  readonly parts: RecordingParts
  readonly episodes: readonly RecordedEpisode[]
  readonly schemas: RecordedSchemas
  /** The log of the session, while the recording does not contain it. */
  readonly liveLog?: readonly SessionLogEvent[] | undefined
  readonly participants: SessionParticipants
  readonly bookmarks: readonly Bookmark[]
  /** Undefined for a viewer who cannot. */
  readonly bookmarkActions?: BookmarkActions
  /** A link back to the session, or what the page is. */
  readonly back: ReactNode
  /** Undefined for a viewer who may not know it. */
  readonly operatorName?: string
  readonly onCopyLink: () => void
  readonly onShare?: (() => void) | undefined
  readonly menu?: ReactNode
  /** Whether it is a part of a page, which scrolls, and does not fill the window. */
  readonly isEmbedded?: boolean
}

/** Shows a recording on one axis of time: pictures, path, values, log, tracks and plots. Always dark, as pictures are. */
export function ReplayView(props: ReplayViewProps) {
  const { replay, recording, schemas, bookmarkActions, isEmbedded = false } = props
  const isGrowing = recording.status === 'RECORDING'
  const tracks = useTracks(props)
  const cameras = useStore(replay.cameras)
  const [selected, setSelected] = useState<string>()
  const main = cameras.find(({ name }) => name === selected) ?? cameras[0]
  const [tab, setTab] = useState<string | null>('log')
  const [areKeysShown, showKeys] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const { plots, menu, speed } = usePlots(replay, schemas)
  const notices = noticesOf(props)
  const onBookmark =
    bookmarkActions &&
    (() => {
      // At once: the next key must be text, and not move the replay.
      flushSync(() => setTab('marks'))
      field.current?.focus()
    })
  const onStop = (direction: 1 | -1) => {
    const atMs = stopFrom(tracks.states, replay.clock.position.get(), direction)
    if (atMs !== undefined) replay.jump(atMs)
  }
  const onSelect = ({ name }: ReplayCamera) => setSelected(name)
  const onKeys = () => showKeys(true)
  useReplayKeys({ replay, isGrowing, onSelect, onStop, onBookmark, onCopyLink: props.onCopyLink, onKeys })
  const isMapOnly = useStore(replay.isProbed) && !main
  const shown = new Set<SpanKind>([...tracks.states, ...tracks.links].map(({ kind }) => kind))
  const map = <PathMap replay={replay} schema={schemas.telemetry} />
  return (
    <div className={styles.replay} data-embedded={isEmbedded} data-map-only={isMapOnly}>
      <Header {...props} />
      {notices.length > 0 && (
        <Box
          role="status"
          px="md"
          py="0.35rem"
          style={{ gridArea: 'note', borderBottom: '1px solid var(--line)' }}
        >
          {notices.map((notice) => (
            <div key={notice}>{notice}</div>
          ))}
        </Box>
      )}
      <div className={styles.pictures}>
        {main && (
          <Cameras replay={replay} cameras={cameras} main={main} gaps={tracks.gaps} onSelect={onSelect}>
            <SpeedPlate replay={replay} lines={speed} />
          </Cameras>
        )}
        {isMapOnly && map}
      </div>
      <Transport
        replay={replay}
        isGrowing={isGrowing}
        onStop={tracks.states.some(({ kind }) => kind === 'stopped') ? onStop : undefined}
        onBookmark={onBookmark}
        onKeys={onKeys}
        kinds={spanKinds.filter((kind) => shown.has(kind))}
      >
        {menu}
      </Transport>
      <Timeline replay={replay} tracks={tracks} plots={plots} />
      <aside className={styles.side} aria-label={t('replay.side.label')}>
        {!isMapOnly && map}
        <Tabs value={tab} onChange={setTab} className={styles.tabs} keepMounted={false}>
          <Tabs.List grow>
            <Tabs.Tab value="log">{t('replay.side.log')}</Tabs.Tab>
            <Tabs.Tab value="now">{t('replay.side.now')}</Tabs.Tab>
            <Tabs.Tab value="marks">{t('replay.side.marks')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="log" className={styles.panel}>
            <LogPanel replay={replay} entries={tracks.entries} />
          </Tabs.Panel>
          <Tabs.Panel value="now" className={styles.panel} tabIndex={0}>
            <NowPanel replay={replay} schema={schemas.telemetry} states={tracks.states} />
          </Tabs.Panel>
          <Tabs.Panel value="marks" className={styles.panel}>
            <MarksPanel replay={replay} tracks={tracks} actions={bookmarkActions} field={field} />
          </Tabs.Panel>
        </Tabs>
      </aside>
      <Modal opened={areKeysShown} onClose={() => showKeys(false)} title={t('replay.tools.keys')}>
        <KeyTable label={t('replay.tools.keys')} rows={keyTexts} />
      </Modal>
    </div>
  )
}

/** In the order of the legend, which does without what is usual. */
const spanKinds = (Object.keys(spanTexts) as SpanKind[]).filter((kind) => kind !== 'live')

function Header({ recording, operatorName, back, onCopyLink, onShare, menu }: ReplayViewProps) {
  const { robot_name, started_at, size_bytes, file_url, gaps, expires_at, status } = recording
  const [isCopied, setCopied] = useState(false)
  const copy = () => {
    onCopyLink()
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  const about = [
    dateTime(started_at),
    operatorName,
    gaps.length > 0 && t('replay.header.gaps', { count: gaps.length }),
    expires_at !== null && t('replay.header.expires', { time: dateTime(expires_at) }),
  ]
  const download = t('replay.header.download', { size: dataSize(size_bytes / 1_000_000) })
  return (
    <header className={styles.header}>
      {back}
      <Title order={1} size="h2" flex={{ base: '0 1 auto', sm: 'none' }} maw={{ sm: '40%' }}>
        {robot_name}
      </Title>
      <Text className={styles.about ?? ''} c="dimmed" miw={0}>
        {about.filter(Boolean).join(' · ')}
      </Text>
      {status !== 'READY' && <RecordingStatusLabel recording={recording} />}
      {recording.mode === 'control' && <Badge>{t('replay.header.noVideo')}</Badge>}
      <span className={styles.space} />
      {onShare && (
        <Button
          variant="default"
          leftSection={<IconShare size={16} />}
          aria-label={t('replay.header.share')}
          onClick={onShare}
        >
          {t('replay.header.share')}
        </Button>
      )}
      {file_url !== null && (
        <Button
          component="a"
          href={file_url}
          download
          variant="default"
          leftSection={<IconDownload size={16} />}
          aria-label={download}
        >
          {download}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={38} aria-label={t('replay.header.more')}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={copy} closeMenuOnClick={false} aria-live="polite">
            {isCopied ? t('replay.header.copied') : t('replay.header.copyLink')}
          </Menu.Item>
          {menu}
        </Menu.Dropdown>
      </Menu>
    </header>
  )
}

/** Returns what a viewer must know about the recording as a whole; nothing for most. */
function noticesOf({ recording, parts }: ReplayViewProps): string[] {
  const { status, paused_reason } = recording
  const [first] = parts.parts
  const notices: string[] = []
  if (status === 'FAILED') notices.push(t('replay.notice.failed'))
  if (status === 'FINISHING') notices.push(t('replay.notice.finishing'))
  if (status === 'RECORDING' && paused_reason !== null)
    notices.push(t('replay.notice.interrupted', { reason: gapText(paused_reason) }))
  if (parts.truncated && first) notices.push(t('replay.notice.truncated', { from: dateTime(first.from) }))
  return notices
}

/** Shows measured and commanded speed on the picture, as far as the recording has them at the position. */
function SpeedPlate({ replay, lines }: { replay: Replay; lines: readonly PlotLine[] }) {
  const atMs = usePosition(replay)
  return (
    <p className={styles.speed} data-testid="speed">
      {lines.map((line, index) => {
        const value = numberAt(replay.moments, line.key, atMs)
        if (value === undefined) return null
        if (index === 0) return valueText(line, value)
        return <span key={line.key}>{` ${labelInSentence(line.label)} ${valueText(line, value)}`}</span>
      })}
    </p>
  )
}

function useTracks(props: ReplayViewProps): Tracks {
  const { replay, recording, episodes, liveLog, participants, bookmarks } = props
  const { overview } = useStore(replay.overview)
  const { toMs } = useStore(replay.clock.limits)
  const { gaps } = recording
  return useMemo(() => {
    const links = overview ? linkSpans(overview, toMs) : []
    return {
      overview,
      entries: logEntries(overview?.events ?? [], liveLog ?? [], links, participants),
      links,
      states: overview ? statesOf(overview, toMs) : [],
      gaps: gapSpans(gaps, toMs),
      episodes: episodeSpans(episodes, toMs),
      marks: bookmarks
        .map((bookmark) => ({ bookmark, atMs: Date.parse(bookmark.at) }))
        .sort((a, b) => a.atMs - b.atMs),
    }
  }, [overview, toMs, liveLog, participants, gaps, episodes, bookmarks])
}

function usePlots(replay: Replay, schemas: RecordedSchemas) {
  const { overview } = useStore(replay.overview)
  const choices = useStore(plotChoices)
  // As text: each report of the worker has new maps with mostly the same keys.
  const keys = [...(overview?.series.keys() ?? [])].join('\n')
  const all = useMemo(() => plotsOf(keys.split('\n').filter(Boolean), schemas), [keys, schemas])
  const plots = useMemo(() => all.filter((plot) => isPlotShown(choices, plot)), [all, choices])
  const speed = all.find(({ id }) => id === 'speed')?.lines ?? []
  return { plots, speed, menu: all.length > 0 && <PlotMenu plots={all} choices={choices} /> }
}

const keyTexts: KeyTexts = [
  [[t('replay.keys.space')], t('replay.keys.play')],
  [[',', '.'], t('replay.keys.frame')],
  [['←', '→'], t('replay.keys.second')],
  [[t('replay.keys.shiftLeft'), t('replay.keys.shiftRight')], t('replay.keys.tenSeconds')],
  [[t('replay.keys.home'), t('replay.keys.end')], t('replay.keys.ends')],
  [['[', ']'], t('replay.keys.speed')],
  [['+', '−', '0'], t('replay.keys.zoom')],
  [['1', '2', '3'], t('replay.keys.camera')],
  [['N', 'P'], t('replay.keys.stops')],
  [['B'], t('replay.keys.bookmark')],
  [['C'], t('replay.keys.link')],
  [['L'], t('replay.keys.live')],
  [['?'], t('replay.keys.keys')],
]

const SECOND_MS = 1_000
const LONG_STEP = 10
const ZOOM_STEP = 2
/** Keys that choose in lists and tabs. */
const NAVIGATION_KEY = /^(Arrow|Home$|End$)/

interface KeyActions extends Omit<TransportProps, 'kinds' | 'children'>, Pick<ReplayViewProps, 'onCopyLink'> {
  readonly onSelect: (camera: ReplayCamera) => void
}

function actionOf(event: KeyboardEvent, actions: KeyActions): (() => void) | undefined {
  const { replay, isGrowing, onSelect, onStop, onBookmark, onCopyLink, onKeys } = actions
  const { clock, view, cameras } = replay
  const step = (seconds: number) => () =>
    replay.jump(clock.position.get() + seconds * (event.shiftKey ? LONG_STEP : 1) * SECOND_MS)
  const zoom = (factor: number) => () => view.zoom(factor, clock.position.get())
  const seekTo = (end: 'fromMs' | 'toMs') => () => replay.jump(clock.limits.get()[end])
  const stepRate = (by: 1 | -1) => () => clock.rate.update((rate) => RATES[RATES.indexOf(rate) + by] ?? rate)
  const byKey: Readonly<Record<string, (() => void) | undefined>> = {
    ' ': () => (clock.isPlaying.get() ? clock.pause() : clock.play()),
    ',': () => void replay.step(-1),
    '.': () => void replay.step(1),
    ArrowLeft: step(-1),
    ArrowRight: step(1),
    Home: seekTo('fromMs'),
    End: seekTo('toMs'),
    '[': stepRate(-1),
    ']': stepRate(1),
    '+': zoom(1 / ZOOM_STEP),
    '=': zoom(1 / ZOOM_STEP),
    '-': zoom(ZOOM_STEP),
    '0': view.fit,
    n: onStop && (() => onStop(1)),
    p: onStop && (() => onStop(-1)),
    b: onBookmark,
    c: onCopyLink,
    l: isGrowing ? clock.followEnd : undefined,
    '?': onKeys,
  }
  const camera = cameras.get()[Number(event.key) - 1]
  if (camera) return () => onSelect(camera)
  return byKey[event.key.length === 1 ? latinKey(event) : event.key]
}

/** Returns whether the focused element uses the key itself. */
function usesKey({ key }: KeyboardEvent): boolean {
  const focused = document.activeElement
  if (key === ' ') return focused?.closest('button, a, select, [role=tab]') != null
  return (
    NAVIGATION_KEY.test(key) &&
    focused?.closest('select, [role=tab], [role=menu], [role=separator], [data-marks]') != null
  )
}

function useReplayKeys(actions: KeyActions): void {
  useWindowEvent('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || isTyping()) return
    if (event.ctrlKey || event.metaKey || event.altKey || usesKey(event)) return
    if (document.querySelector('[role=dialog], [role=menu]') !== null) return
    const action = actionOf(event, actions)
    if (!action) return
    event.preventDefault()
    action()
  })
}
