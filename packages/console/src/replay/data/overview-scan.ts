import type { RecordingPart } from '../../recording/recordings.ts'
import { type FetchRange, RangeRefused } from './block-cache.ts'
import {
  createOverviewBuilder,
  DENSE_TOPICS,
  type Overview,
  type OverviewBuilder,
  SPARSE_TOPICS,
} from './overview.ts'
import { createRecordingSource, createRetryDelay, timedPart } from './recording-source.ts'

/** Two points for each: more than a wide screen has columns. */
export const BUCKETS = 1_500
const REPORT_MS = 400
/** A running recording grows, so that its first buckets cover more than there is. */
const SPARE = 1.5
const SHORTEST_MS = 60_000

export interface ScanParts {
  readonly parts: readonly RecordingPart[]
  readonly complete: boolean
  readonly fromMs: number
  readonly toMs: number
  readonly posePath: readonly string[] | null
}

/** A range that is shown larger than the overview allows. */
export interface DetailRange {
  readonly fromMs: number
  readonly toMs: number
}

export type ToOverviewWorker = { readonly parts: ScanParts } | { readonly detail: DetailRange }
/** What was read: the whole recording, or the newest range that was read in detail. */
export type FromOverviewWorker = { readonly overview: Overview } | { readonly detail: Overview }

interface Options {
  readonly fetchRange: FetchRange
  readonly cacheBytes: number
  /** Called while a scan advances. `scannedToMs` is infinite at its end. */
  readonly onOverview: (kind: 'overview' | 'detail', overview: Overview, scannedToMs: number) => void
  readonly onError: (cause: unknown) => void
}

/** Reads a recording from its start to its end, and ranges of it in more detail. */
export function createOverviewScan({ fetchRange, cacheBytes, onOverview, onError }: Options) {
  const source = createRecordingSource(fetchRange, cacheBytes)
  let given: ScanParts | undefined
  let builder: OverviewBuilder | undefined
  let scanned = new Set<string>()
  let wanted: DetailRange | undefined
  let isRunning = false
  /** How many messages of a part the builder contains that were read before the reading failed. */
  let partial = { url: '', messages: 0 }
  const delay = createRetryDelay()
  let retryTimer: ReturnType<typeof setTimeout> | undefined

  const createBuilder = (fromMs: number, spanMs: number, grows: boolean) =>
    createOverviewBuilder({ fromMs, spanMs, grows, buckets: BUCKETS, posePath: given?.posePath ?? null })

  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    clearTimeout(retryTimer)
    try {
      while (given) {
        if (wanted) await scanWanted()
        else if (!(await scanNext(given))) return
        delay.succeeded()
      }
    } catch (cause) {
      onError(cause)
      // The next parts have other addresses.
      if (!(cause instanceof RangeRefused)) retryTimer = setTimeout(() => void run(), delay.failed())
    } finally {
      isRunning = false
    }
  }

  /** Scans the next part. Returns false if there is none. */
  async function scanNext({ parts, complete, fromMs, toMs }: ScanParts): Promise<boolean> {
    const part = parts.find(({ url }) => !scanned.has(url))
    if (!part) return false
    const isContinued = partial.url === part.url || parts.some(({ url }) => scanned.has(url))
    const isWhole = complete && builder !== undefined && !isContinued
    // The finished file replaces the segments. The old overview stays visible until the file has been read.
    const span = complete ? toMs - fromMs + 1 : Math.max(SHORTEST_MS, SPARE * (toMs - fromMs))
    const into = isWhole || !builder ? createBuilder(fromMs, span, true) : builder
    if (!isWhole) builder = into
    const range = timedPart(part)
    const known = !isWhole && partial.url === part.url ? partial.messages : 0
    let read = 0
    const report = every(REPORT_MS, (atMs) => !isWhole && onOverview('overview', into.build(), atMs))
    for (const topics of [SPARSE_TOPICS, DENSE_TOPICS]) {
      const reader = await source.open(range)
      if (!topics.some((topic) => reader.topics.has(topic))) continue
      for await (const message of reader.messages({ topics, fromMs: range.fromMs, toMs: range.toMs })) {
        if (read++ < known) continue
        into.add(message)
        if (!isWhole) partial = { url: part.url, messages: read }
        report(message.atMs)
        if (wanted) await scanWanted()
      }
    }
    builder = into
    scanned = isWhole ? new Set([part.url]) : scanned.add(part.url)
    const isLast = parts.every(({ url }) => scanned.has(url))
    onOverview('overview', into.build(), isLast ? Number.POSITIVE_INFINITY : range.toMs)
    return true
  }

  /** Scans the wanted range. It stays wanted after a failure. */
  async function scanWanted(): Promise<void> {
    const range = wanted
    if (!range) return
    wanted = undefined
    try {
      await scanDetail(range)
    } catch (cause) {
      wanted ??= range
      throw cause
    }
  }

  async function scanDetail({ fromMs, toMs }: DetailRange): Promise<void> {
    const detail = createBuilder(fromMs, toMs - fromMs, false)
    for await (const message of source.messages({ topics: DENSE_TOPICS, fromMs, toMs })) {
      if (wanted) return
      detail.add(message)
    }
    onOverview('detail', detail.build(), Number.POSITIVE_INFINITY)
  }

  return {
    setParts(next: ScanParts): void {
      given = next
      source.setParts(next.parts)
      void run()
    },
    /** Scans a range, before everything else. A newer range replaces one that is waiting. */
    requestDetail(range: DetailRange): void {
      wanted = range
      void run()
    },
  }
}

function every(ms: number, report: (atMs: number) => void): (atMs: number) => void {
  let dueMs = performance.now() + ms
  return (atMs) => {
    if (performance.now() < dueMs) return
    report(atMs)
    dueMs = performance.now() + ms
  }
}
