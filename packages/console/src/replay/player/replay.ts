import { cameraOfTopic, recordingTopics } from '@wheelhouse/protocol'
import { createStore } from '../../base/store.ts'
import type { RecordingParts } from '../../recording/recordings.ts'
import type { FetchRange } from '../data/block-cache.ts'
import type { FromOverviewWorker, Overview, ScanParts, ToOverviewWorker } from '../data/overview.ts'
import { createMomentReader, createRecordingSource, type TimeRange } from '../data/recording-source.ts'
import { CameraPlayer, type FrameSchema, isFrameSchema } from './camera-player.ts'

const CACHE_BYTES = 32 * 1024 * 1024
/** Parts that are opened to find the cameras: each stream has its own. */
const PROBED_PARTS = 8
/** The overview waits no longer for the first picture. */
const LONGEST_DELAY_MS = 2_000
/** The topics whose values are shown at the position. */
const MOMENT_TOPICS = [
  recordingTopics.telemetry,
  recordingTopics.control,
  recordingTopics.dropped,
  recordingTopics.latency,
  recordingTopics.limits,
]

/** More detail is requested this long after the view has stopped moving. */
const DETAIL_DELAY_MS = 250
/** A view of less than this share of the overview's buckets is read in more detail. */
const COARSE_BUCKETS = 600
/** A longer range is not read again: it may contain gigabytes of video. */
const LONGEST_DETAIL_MS = 15 * 60_000
/** How much more than the view is read on each side, so that small movements need no reading. */
const MARGIN = 0.5

interface ReplayOptions extends Omit<ScanParts, 'parts' | 'complete'> {
  readonly fetchRange: FetchRange
  readonly parts: RecordingParts
  /** Where playing begins; undefined for the first picture. */
  readonly startMs: number | undefined
}

export interface ReplayCamera {
  readonly name: string
  readonly player: CameraPlayer
}

/** A replay: the clock, and what follows it. Close it. */
export type Replay = ReturnType<typeof openReplay>

export function openReplay({ fetchRange, parts, fromMs, toMs, startMs, posePath }: ReplayOptions) {
  const source = createRecordingSource(fetchRange, CACHE_BYTES)
  const moments = createMomentReader(source, MOMENT_TOPICS)
  const overview = createStore<{ readonly overview?: Overview; readonly detail?: Overview }>({})
  const worker = new Worker(new URL('../data/overview.worker.ts', import.meta.url), { type: 'module' })
  const send = (message: ToOverviewWorker) => worker.postMessage(message)
  worker.addEventListener('message', ({ data }: MessageEvent<FromOverviewWorker>) =>
    overview.update((old) => ({ ...old, ...data })),
  )
  const cameras = createStore<readonly ReplayCamera[]>([])
  /** Whether it is known which cameras there are. */
  const isProbed = createStore(false)
  const clock = createClock({ fromMs, toMs }, startMs ?? fromMs, () =>
    cameras.get().every(({ player }) => player.isReady()),
  )
  const view = createTimeView(clock)
  let detailTimer: ReturnType<typeof setTimeout> | undefined
  view.range.subscribe(() => {
    clearTimeout(detailTimer)
    detailTimer = setTimeout(requestDetail, DETAIL_DELAY_MS)
  })
  const probed = new Set<string>()
  let isComplete = parts.complete
  let isAtStart = startMs === undefined
  /** The first picture comes before everything else: the overview would compete with it for processor and network. */
  let isOverviewDue = false
  let scanned: ScanParts | undefined
  const openedMs = performance.now()

  function startOverview(nowMs: number): void {
    const isPictureShown = isProbed.get() && cameras.get().every(({ player }) => player.isReady())
    if (isOverviewDue || !scanned || !(isPictureShown || nowMs - openedMs > LONGEST_DELAY_MS)) return
    isOverviewDue = true
    send({ parts: scanned })
  }

  function requestDetail(): void {
    const { overview: whole, detail } = overview.get()
    const range = view.range.get()
    const span = range.toMs - range.fromMs
    if (!whole || span > LONGEST_DETAIL_MS || span / whole.widthMs > COARSE_BUCKETS) return
    if (detail && covers(detail, range) && span / detail.widthMs > COARSE_BUCKETS) return
    const limits = clock.limits.get()
    send({
      detail: {
        fromMs: Math.max(limits.fromMs, range.fromMs - span * MARGIN),
        toMs: Math.min(limits.toMs, range.toMs + span * MARGIN),
      },
    })
  }

  async function probe(): Promise<void> {
    const all = source.parts.get()
    const ends =
      all.length <= 2 * PROBED_PARTS ? all : [...all.slice(0, PROBED_PARTS), ...all.slice(-PROBED_PARTS)]
    for (const part of ends) {
      if (probed.has(part.url)) continue
      const { topics } = await source.open(part)
      probed.add(part.url)
      for (const [topic, schema] of topics) if (isFrameSchema(schema)) addCamera(topic, schema)
    }
    isProbed.set(true)
    if (isAtStart) await seekFirstPicture()
  }

  /** Cameras begin later than the session. Unless the viewer was faster, the replay begins where there is something to see. */
  async function seekFirstPicture(): Promise<void> {
    isAtStart = false
    const firsts = await Promise.all(
      cameras.get().map(({ player }) => source.firstAfter(player.topic, fromMs)),
    )
    const atMs = Math.min(...firsts.map((first) => first?.atMs ?? Number.POSITIVE_INFINITY))
    if (Number.isFinite(atMs) && clock.position.get() === fromMs && !clock.isPlaying.get()) clock.seek(atMs)
  }

  function addCamera(topic: string, schema: FrameSchema): void {
    const name = cameraOfTopic(topic)
    if (name === undefined || cameras.get().some((camera) => camera.name === name)) return
    const camera = { name, player: new CameraPlayer(source, topic, schema) }
    cameras.update((old) => [...old, camera].sort((a, b) => a.name.localeCompare(b.name)))
  }

  function setParts({ parts: next, complete }: RecordingParts, untilMs: number): void {
    isComplete = complete
    source.setParts(next)
    clock.limits.set({ fromMs, toMs: Math.max(fromMs + 1, untilMs) })
    view.grow()
    scanned = { parts: next, complete, fromMs, toMs: untilMs, posePath }
    if (isOverviewDue) send({ parts: scanned })
    for (const { player } of cameras.get()) player.continue()
    probe().catch((cause: unknown) => console.warn('replay:', cause))
  }

  function tick(nowMs: number): void {
    frame = requestAnimationFrame(tick)
    clock.tick(nowMs, !isComplete)
    const atMs = clock.position.get()
    for (const { player } of cameras.get()) player.follow(atMs)
    moments.prepare(atMs)
    view.keepInView(atMs)
    startOverview(nowMs)
  }

  setParts(parts, toMs)
  let frame = requestAnimationFrame(tick)
  return {
    startMs: fromMs,
    clock,
    view,
    cameras,
    isProbed,
    moments,
    overview,
    setParts,
    /** Returns the data that shows a range best. */
    overviewOf(range: TimeRange): Overview | undefined {
      const { overview: whole, detail } = overview.get()
      return detail && whole && covers(detail, range) && detail.widthMs < whole.widthMs ? detail : whole
    },
    /** Goes to a time, and shows it on the axis. */
    jump(atMs: number): void {
      view.attach()
      clock.seek(atMs)
    },
    /** Goes to the next or the previous frame of a camera, or sample of the telemetry without one. */
    async step(direction: 1 | -1): Promise<void> {
      clock.pause()
      const [camera] = cameras.get()
      const atMs = camera?.player.shown.get() ?? clock.position.get()
      const topic = camera?.player.topic ?? recordingTopics.telemetry
      const next =
        direction > 0
          ? await source.firstAfter(topic, atMs + STEP_MS)
          : await source.lastBefore(topic, atMs - STEP_MS)
      view.attach()
      if (next) clock.seek(next.atMs)
    },
    close(): void {
      cancelAnimationFrame(frame)
      clearTimeout(detailTimer)
      worker.terminate()
      for (const { player } of cameras.get()) player.close()
    },
  }
}

const covers = ({ originMs, widthMs, passed }: Overview, { fromMs, toMs }: TimeRange) =>
  originMs <= fromMs && originMs + widthMs * passed.length >= toMs

/** The smallest difference of two times: a microsecond. */
const STEP_MS = 0.001

export const RATES: readonly number[] = [0.25, 0.5, 1, 2, 4, 8]
/** After a longer pause of the page, such as one in the background, playback continues from the position before the pause. */
const LONGEST_TICK_MS = 250
/** The longest wait for pictures. A camera that does not arrive does not hold up the rest for ever. */
const LONGEST_WAIT_MS = 4_000

/** Creates the clock of a replay. @param isReady whether everything of the present position is shown */
export function createClock(range: TimeRange, startMs: number, isReady: () => boolean) {
  const limits = createStore(range)
  const position = createStore(clamp(startMs, range))
  const isPlaying = createStore(false)
  const rate = createStore(1)
  /** Whether playing waits for data. */
  const isWaiting = createStore(false)
  /** Whether the position stays at the end of a recording that grows. */
  const isFollowing = createStore(false)
  let lastMs: number | undefined
  let waitingSinceMs: number | undefined

  function seek(atMs: number): void {
    isFollowing.set(false)
    position.set(clamp(atMs, limits.get()))
  }

  return {
    limits,
    position,
    isPlaying,
    rate,
    isWaiting,
    isFollowing,
    seek,
    play(): void {
      const { fromMs, toMs } = limits.get()
      if (position.get() >= toMs && !isFollowing.get()) position.set(fromMs)
      isPlaying.set(true)
    },
    pause(): void {
      isPlaying.set(false)
      isFollowing.set(false)
    },
    /** Goes to the end and plays on as the recording grows. */
    followEnd(): void {
      position.set(limits.get().toMs)
      rate.set(1)
      isFollowing.set(true)
      isPlaying.set(true)
    },
    /** Advances the position. Call it on each animation frame. @param isGrowing whether more may follow the end */
    tick(nowMs: number, isGrowing: boolean): void {
      const passedMs = Math.min(LONGEST_TICK_MS, nowMs - (lastMs ?? nowMs))
      lastMs = nowMs
      if (!isPlaying.get()) return isWaiting.set(false)
      const { toMs } = limits.get()
      const isAtEnd = position.get() >= toMs
      if (isAtEnd && !isGrowing) {
        isPlaying.set(false)
        isFollowing.set(false)
        return isWaiting.set(false)
      }
      const isHeld = isAtEnd || !isReady()
      waitingSinceMs = isHeld ? (waitingSinceMs ?? nowMs) : undefined
      const isOverdue = !isAtEnd && waitingSinceMs !== undefined && nowMs - waitingSinceMs > LONGEST_WAIT_MS
      isWaiting.set(isHeld && !isOverdue && nowMs - (waitingSinceMs ?? nowMs) > LONGEST_TICK_MS)
      if (!isHeld || isOverdue) position.set(clamp(position.get() + passedMs * rate.get(), limits.get()))
    },
  }
}
type ReplayClock = ReturnType<typeof createClock>

const clamp = (atMs: number, { fromMs, toMs }: TimeRange): number => Math.min(toMs, Math.max(fromMs, atMs))

const SHORTEST_MS = 500
/** Where the position is in the view after it was moved on. */
const LEAD = 0.08

function createTimeView({ limits, position }: ReplayClock) {
  const range = createStore<TimeRange>(limits.get())
  let isFitted = true
  /** While the user looks elsewhere, playing does not move the view back. */
  let isDetached = false

  function show(fromMs: number, spanMs: number): void {
    const all = limits.get()
    const whole = all.toMs - all.fromMs
    const span = Math.min(whole, Math.max(Math.min(SHORTEST_MS, whole), spanMs))
    isFitted = span >= whole
    const from = Math.min(all.toMs - span, Math.max(all.fromMs, fromMs))
    const old = range.get()
    if (old.fromMs !== from || old.toMs !== from + span) range.set({ fromMs: from, toMs: from + span })
  }

  const isInside = (atMs: number) => atMs >= range.get().fromMs && atMs <= range.get().toMs

  return {
    range,
    /** Zooms about a time. A factor below 1 shows less. */
    zoom(factor: number, aboutMs: number): void {
      const { fromMs, toMs } = range.get()
      const span = (toMs - fromMs) * factor
      show(aboutMs - (aboutMs - fromMs) * factor, span)
      isDetached = !isInside(position.get())
    },
    pan(ms: number): void {
      const { fromMs, toMs } = range.get()
      show(fromMs + ms, toMs - fromMs)
      isDetached = !isInside(position.get())
    },
    fit(): void {
      const { fromMs, toMs } = limits.get()
      isDetached = false
      show(fromMs, toMs - fromMs)
    },
    show: (fromMs: number, toMs: number) => show(fromMs, toMs - fromMs),
    /** Extends the view to a new end, unless it shows only a part of the recording. */
    grow(): void {
      const { fromMs, toMs } = limits.get()
      if (isFitted) show(fromMs, toMs - fromMs)
    },
    /** Moves the view on when playing leaves it, or the user jumps. */
    keepInView(atMs: number): void {
      if (isInside(atMs)) isDetached = false
      else if (!isDetached) {
        const { fromMs, toMs } = range.get()
        show(atMs - (toMs - fromMs) * LEAD, toMs - fromMs)
      }
    },
    attach(): void {
      isDetached = false
    },
  }
}
