import { Modal, Tabs } from '@mantine/core'
import type { ControlSchema, SessionLogEvent, TelemetrySchema } from '@wheelhouse/protocol'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { labelInSentence } from '../../base/format.ts'
import { KeyTable, type KeyTexts } from '../../base/key-table.tsx'
import { isTyping, latinKey } from '../../base/keys.ts'
import { useStore } from '../../base/store.ts'
import type { Bookmark, RecordedEpisode, Recording } from '../../recording/recordings.ts'
import type { SessionParticipants } from '../../session/event-texts.ts'
import { t } from '../../texts/texts.ts'
import { numberAt } from '../data/moment-reader.ts'
import { RATES } from '../player/clock.ts'
import type { Replay, ReplayCamera } from '../player/replay.ts'
import cameraStyles from './cameras.module.css'
import { Cameras } from './cameras.tsx'
import { requestDetail } from './detail.ts'
import { useLogEntries } from './log-entries.ts'
import { type BookmarkActions, LogPanel, MarksPanel, NowPanel, PathMap } from './panels.tsx'
import { type PlotLine, plotsOf } from './plot-lines.ts'
import { isPlotShown, PlotMenu, plotChoices } from './plot-menu.tsx'
import styles from './replay.module.css'
import { usePosition } from './replay-time.ts'
import { Timeline } from './timeline.tsx'
import { valueText } from './tip.ts'
import {
  episodeSpans,
  gapSpans,
  linkSpans,
  type SpanKind,
  spanTexts,
  statesOf,
  stopFrom,
  type Tracks,
} from './tracks.ts'
import { Transport } from './transport.tsx'

const DETAIL_DELAY_MS = 250

interface ReplayViewProps {
  readonly replay: Replay
  readonly recording: Recording
  readonly episodes: readonly RecordedEpisode[]
  readonly schemas: { readonly telemetry: TelemetrySchema | null; readonly control: ControlSchema | null }
  /** The log of the session, while the recording does not contain it. */
  readonly liveLog: readonly SessionLogEvent[] | undefined
  readonly participants: SessionParticipants
  readonly bookmarks: readonly Bookmark[]
  readonly bookmarkActions: BookmarkActions | undefined
  readonly onCopyLink: () => void
  /** The bar at the top. */
  readonly header: ReactNode
  /** A note about the recording as a whole. */
  readonly notice?: ReactNode
  /** Whether it is a part of a page, which scrolls, and does not fill the window. */
  readonly isEmbedded?: boolean
}

/** Shows a recording on one axis of time: pictures, path, values, log, tracks and plots. Always dark, as pictures are. */
export function ReplayView(props: ReplayViewProps) {
  const { replay, recording, schemas, bookmarkActions, header, notice, isEmbedded = false } = props
  const startMs = Date.parse(recording.started_at)
  const isGrowing = recording.status === 'RECORDING'
  const tracks = useTracks(props)
  const cameras = useStore(replay.cameras)
  const [selected, setSelected] = useState<string>()
  const main = cameras.find(({ name }) => name === selected) ?? cameras[0]
  const [tab, setTab] = useState<string | null>('log')
  const [areKeysShown, showKeys] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const { plots, menu, speed } = usePlots(replay, schemas)
  useDetail(replay)
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
  useReplayKeys({
    replay,
    isGrowing,
    onSelect: ({ name }) => setSelected(name),
    onStop,
    onBookmark,
    onCopyLink: props.onCopyLink,
    onKeys: () => showKeys(true),
  })
  const isMapOnly = useStore(replay.isProbed) && !main
  const shown = new Set<SpanKind>([...tracks.states, ...tracks.links].map(({ kind }) => kind))
  return (
    <div className={styles.replay} data-embedded={isEmbedded} data-map-only={isMapOnly}>
      {header}
      {notice}
      <div className={styles.pictures}>
        {main ? (
          <Cameras
            replay={replay}
            cameras={cameras}
            main={main}
            gaps={tracks.gaps}
            speed={<SpeedPlate replay={replay} lines={speed} />}
            onSelect={({ name }) => setSelected(name)}
          />
        ) : (
          isMapOnly && <PathMap replay={replay} schema={schemas.telemetry} />
        )}
      </div>
      <Transport
        replay={replay}
        startMs={startMs}
        isGrowing={isGrowing}
        onStop={tracks.states.some(({ kind }) => kind === 'stopped') ? onStop : undefined}
        onBookmark={onBookmark}
        onKeys={() => showKeys(true)}
        kinds={spanKinds.filter((kind) => shown.has(kind))}
      >
        {menu}
      </Transport>
      <Timeline replay={replay} startMs={startMs} tracks={tracks} plots={plots} />
      <aside className={styles.side} aria-label={t('replay.side.label')}>
        {!isMapOnly && <PathMap replay={replay} schema={schemas.telemetry} />}
        <Tabs value={tab} onChange={setTab} className={styles.tabs} keepMounted={false}>
          <Tabs.List grow>
            <Tabs.Tab value="log">{t('replay.side.log')}</Tabs.Tab>
            <Tabs.Tab value="now">{t('replay.side.now')}</Tabs.Tab>
            <Tabs.Tab value="marks">{t('replay.side.marks')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="log" className={styles.panel}>
            <LogPanel replay={replay} startMs={startMs} entries={tracks.entries} />
          </Tabs.Panel>
          <Tabs.Panel value="now" className={styles.panel} tabIndex={0}>
            <NowPanel replay={replay} schema={schemas.telemetry} states={tracks.states} />
          </Tabs.Panel>
          <Tabs.Panel value="marks" className={styles.panel}>
            <MarksPanel
              replay={replay}
              startMs={startMs}
              episodes={tracks.episodes}
              marks={tracks.marks}
              actions={bookmarkActions}
              field={field}
            />
          </Tabs.Panel>
        </Tabs>
      </aside>
      <KeysSheet opened={areKeysShown} onClose={() => showKeys(false)} />
    </div>
  )
}

/** In the order of the legend, which does without what is usual. */
const spanKinds = (Object.keys(spanTexts) as SpanKind[]).filter((kind) => kind !== 'live')

/** Shows measured and commanded speed on the picture, as far as the recording has them at the position. */
function SpeedPlate({ replay, lines }: { replay: Replay; lines: readonly PlotLine[] }) {
  const atMs = usePosition(replay)
  const texts = lines.map((line) => {
    const value = numberAt(replay.moments, line.key, atMs)
    return value === undefined ? undefined : { line, text: valueText(line, value) }
  })
  if (texts.every((text) => text === undefined)) return null
  return (
    <p className={cameraStyles.speed} data-testid="speed">
      {texts.map(
        (found, index) =>
          found &&
          (index === 0 ? (
            found.text
          ) : (
            <span key={found.line.key}>
              {' '}
              {labelInSentence(found.line.label)} {found.text}
            </span>
          )),
      )}
    </p>
  )
}

function useTracks({
  replay,
  recording,
  episodes,
  liveLog,
  participants,
  bookmarks,
}: ReplayViewProps): Tracks {
  const { overview } = useStore(replay.overview.state)
  const { toMs } = useStore(replay.clock.limits)
  const links = useMemo(() => (overview ? linkSpans(overview, toMs) : []), [overview, toMs])
  const entries = useLogEntries(overview, links, liveLog, participants)
  const { gaps } = recording
  return useMemo(
    () => ({
      overview,
      entries,
      links,
      states: overview ? statesOf(overview, toMs) : [],
      gaps: gapSpans(gaps, toMs),
      episodes: episodeSpans(episodes, toMs),
      marks: [...bookmarks]
        .map((bookmark) => ({ bookmark, fromMs: Date.parse(bookmark.at), toMs: Date.parse(bookmark.at) }))
        .sort((a, b) => a.fromMs - b.fromMs),
    }),
    [overview, entries, links, toMs, gaps, episodes, bookmarks],
  )
}

function usePlots(replay: Replay, schemas: ReplayViewProps['schemas']) {
  const { overview } = useStore(replay.overview.state)
  const choices = useStore(plotChoices)
  // As text: each report of the worker has new maps with mostly the same keys.
  const keys = [...(overview?.series.keys() ?? [])].join('\n')
  const all = useMemo(() => plotsOf(keys.split('\n').filter(Boolean), schemas), [keys, schemas])
  const plots = useMemo(() => all.filter((plot) => isPlotShown(choices, plot)), [all, choices])
  const speed = all.find(({ id }) => id === 'speed')?.lines ?? []
  return { plots, speed, menu: all.length > 0 && <PlotMenu plots={all} choices={choices} /> }
}

/** Requests more detail a moment after the view has stopped moving. */
function useDetail(replay: Replay): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const onChange = () => {
      clearTimeout(timer)
      timer = setTimeout(() => requestDetail(replay, replay.view.range.get()), DETAIL_DELAY_MS)
    }
    const unsubscribe = replay.view.range.subscribe(onChange)
    return () => {
      clearTimeout(timer)
      unsubscribe()
    }
  }, [replay])
}

/** The keys of a replay and what they do. */
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

/** Lists the keys of a replay. */
const KeysSheet = ({ opened, onClose }: { opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={t('replay.tools.keys')}>
    <KeyTable label={t('replay.tools.keys')} rows={keyTexts} />
  </Modal>
)

const SECOND_MS = 1_000
const LONG_STEP = 10
const ZOOM_STEP = 2
/** Keys that choose in lists and tabs. */
const NAVIGATION_KEY = /^(Arrow|Home$|End$)/

interface KeyActions {
  readonly replay: Replay
  readonly isGrowing: boolean
  readonly onSelect: (camera: ReplayCamera) => void
  readonly onStop: (direction: 1 | -1) => void
  /** Undefined for a viewer who cannot. */
  readonly onBookmark: (() => void) | undefined
  readonly onCopyLink: () => void
  readonly onKeys: () => void
}

/** Returns what a key does; undefined for other keys. */
function actionOf(event: KeyboardEvent, actions: KeyActions): (() => void) | undefined {
  const { replay, isGrowing, onSelect, onStop, onBookmark, onCopyLink, onKeys } = actions
  const { clock, view, cameras } = replay
  const step = (seconds: number) => () =>
    replay.jump(clock.position.get() + seconds * (event.shiftKey ? LONG_STEP : 1) * SECOND_MS)
  const zoom = (factor: number) => () => view.zoom(factor, clock.position.get())
  const seekTo = (end: 'fromMs' | 'toMs') => () => replay.jump(clock.limits.get()[end])
  const byKey: Readonly<Record<string, (() => void) | undefined>> = {
    ' ': () => (clock.isPlaying.get() ? clock.pause() : clock.play()),
    ',': () => void replay.step(-1),
    '.': () => void replay.step(1),
    ArrowLeft: step(-1),
    ArrowRight: step(1),
    Home: seekTo('fromMs'),
    End: seekTo('toMs'),
    '[': () => stepRate(replay, -1),
    ']': () => stepRate(replay, 1),
    '+': zoom(1 / ZOOM_STEP),
    '=': zoom(1 / ZOOM_STEP),
    '-': zoom(ZOOM_STEP),
    '0': view.fit,
    n: () => onStop(1),
    p: () => onStop(-1),
    b: onBookmark,
    c: onCopyLink,
    l: isGrowing ? clock.followEnd : undefined,
    '?': onKeys,
  }
  const camera = cameras.get()[Number(event.key) - 1]
  if (camera) return () => onSelect(camera)
  return byKey[event.key.length === 1 ? latinKey(event) : event.key]
}

function stepRate({ clock: { rate } }: Replay, step: number): void {
  const index = RATES.indexOf(rate.get())
  rate.set(RATES[Math.min(RATES.length - 1, Math.max(0, index + step))] ?? 1)
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

/** Controls a replay by keys while the component is mounted. */
function useReplayKeys(actions: KeyActions): void {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || isTyping()) return
      if (event.ctrlKey || event.metaKey || event.altKey || usesKey(event)) return
      if (document.querySelector('[role=dialog], [role=menu]') !== null) return
      const action = actionOf(event, latest.current)
      if (!action) return
      event.preventDefault()
      action()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}
