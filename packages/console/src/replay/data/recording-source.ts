import { McapIndexedReader } from '@mcap/core'
import { recordingTopics } from '@wheelhouse/protocol'
import { createStore } from '../../base/store.ts'
import type { RecordingPart } from '../../recording/recordings.ts'
import { BlockCache, type FetchRange, type RemoteFile } from './block-cache.ts'

export interface RecordedMessage {
  readonly topic: string
  /** When it arrived at the platform, in Unix milliseconds with fractions. */
  readonly atMs: number
  /** Valid until the next message is read: it lies in the chunk of the reader. */
  readonly data: Uint8Array
}

export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** Which messages to read. Both bounds are included. */
export interface MessageQuery extends TimeRange {
  readonly topics: readonly string[]
  readonly reverse?: boolean
}

export type TimedPart = RemoteFile & TimeRange

export const timedPart = ({ url, from, to, size_bytes }: RecordingPart): TimedPart => ({
  url,
  sizeBytes: size_bytes,
  fromMs: Date.parse(from),
  // The platform cuts the time to milliseconds.
  toMs: Date.parse(to) + 1,
})

/** Opens the MCAP file of a part. @throws Error for a file that is damaged or cannot be read */
export async function openPart(cache: BlockCache, part: TimedPart) {
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(part.sizeBytes),
      read: (offset: bigint, size: bigint) => cache.read(part, Number(offset), Number(offset + size)),
    },
  })
  const topicOf = new Map([...reader.channelsById].map(([id, { topic }]) => [id, topic]))
  return {
    topics: new Map(
      [...reader.channelsById.values()].map(({ topic, schemaId }) => [
        topic,
        reader.schemasById.get(schemaId)?.name,
      ]),
    ) as ReadonlyMap<string, string | undefined>,
    /** Returns the values of a metadata record; undefined without it. */
    async metadata(name: string): Promise<ReadonlyMap<string, string> | undefined> {
      for await (const { metadata } of reader.readMetadata({ name })) return metadata
      return undefined
    },
    async *messages({
      topics,
      fromMs,
      toMs,
      reverse = false,
    }: MessageQuery): AsyncGenerator<RecordedMessage> {
      const query = { topics, startTime: nsOfMs(fromMs), endTime: lastNsOfMs(toMs), reverse }
      for await (const { channelId, logTime, data } of reader.readMessages(query))
        yield { topic: topicOf.get(channelId) ?? '', atMs: msOfNs(logTime), data }
    },
  }
}
export type PartReader = Awaited<ReturnType<typeof openPart>>

const US_PER_MS = 1_000
const NS_PER_US = 1_000n

/** Returns Unix nanoseconds as Unix milliseconds with fractions. A double keeps microseconds. */
const msOfNs = (ns: bigint): number => Number(ns / NS_PER_US) / US_PER_MS

const nsOfMs = (ms: number): bigint => BigInt(Math.round(ms * US_PER_MS)) * NS_PER_US

/** Returns the last nanosecond of the microsecond, so that a bound includes everything that `msOfNs` maps to it. */
const lastNsOfMs = (ms: number): bigint => nsOfMs(ms) + NS_PER_US - 1n

const FIRST_MS = 500
const LONGEST_MS = 30_000

/** Counts failed attempts in a row, and makes the delay before the next one longer with each. */
export function createRetryDelay() {
  let failures = 0
  return {
    /** Notes a failure. Returns how long to wait before the next attempt. */
    failed: (): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** failures++),
    succeeded(): void {
      failures = 0
    },
  }
}

/** Open parts: their indexes stay in memory. */
const MAX_OPEN_PARTS = 48

interface Cursor {
  readonly messages: AsyncGenerator<RecordedMessage>
  next: RecordedMessage
}

export type RecordingSource = ReturnType<typeof createRecordingSource>

/** Creates a source without parts. @param cacheBytes most bytes of the files that it keeps in memory */
export function createRecordingSource(fetchRange: FetchRange, cacheBytes: number) {
  const cache = new BlockCache(fetchRange, cacheBytes)
  const parts = createStore<readonly TimedPart[]>([])
  const opened = new Map<string, Promise<PartReader>>()

  function open(part: TimedPart): Promise<PartReader> {
    const known = opened.get(part.url)
    opened.delete(part.url)
    const reader = known ?? openPart(cache, part)
    opened.set(part.url, reader)
    reader.catch(() => opened.get(part.url) === reader && opened.delete(part.url))
    const [oldest] = opened.keys()
    if (opened.size > MAX_OPEN_PARTS && oldest !== undefined) opened.delete(oldest)
    return reader
  }

  /** Yields the messages of all parts in the order of their times. Opens a part only when its time has come. */
  async function* messages(query: MessageQuery): AsyncGenerator<RecordedMessage> {
    const { fromMs, toMs, reverse = false } = query
    const sign = reverse ? -1 : 1
    const startOf = (part: TimedPart) => (reverse ? -part.toMs : part.fromMs)
    const waiting = parts
      .get()
      .filter((part) => part.fromMs <= toMs && part.toMs >= fromMs)
      .sort((a, b) => startOf(a) - startOf(b))
    const cursors: Cursor[] = []
    try {
      for (;;) {
        let first = earliest(cursors, sign)
        while (waiting[0] && (!first || startOf(waiting[0]) <= sign * first.next.atMs)) {
          const part = waiting.shift()
          const reader = part && (await open(part))
          const cursor = reader && (await begin(reader.messages(query)))
          if (cursor) cursors.push(cursor)
          first = earliest(cursors, sign)
        }
        if (!first) return
        yield first.next
        const { value, done } = await first.messages.next()
        if (done) cursors.splice(cursors.indexOf(first), 1)
        else first.next = value
      }
    } finally {
      await Promise.all(cursors.map(({ messages }) => messages.return(undefined)))
    }
  }

  return {
    parts,
    messages,
    open,
    /** Replaces the list of parts. Parts that are in both lists keep their indexes. */
    setParts(next: readonly RecordingPart[]): void {
      const urls = new Set(next.map(({ url }) => url))
      for (const url of opened.keys()) if (!urls.has(url)) opened.delete(url)
      parts.set(next.map(timedPart))
    },
    /** Returns the newest message up to a time; undefined without one. */
    async lastBefore(topic: string, atMs: number): Promise<RecordedMessage | undefined> {
      for await (const message of messages({ topics: [topic], fromMs: 0, toMs: atMs, reverse: true }))
        return message
      return undefined
    },
    /** Returns the oldest message from a time on; undefined without one. */
    async firstAfter(topic: string, atMs: number): Promise<RecordedMessage | undefined> {
      const toMs = Math.max(atMs, ...parts.get().map((part) => part.toMs))
      for await (const message of messages({ topics: [topic], fromMs: atMs, toMs })) return message
      return undefined
    },
  }
}

const earliest = (cursors: readonly Cursor[], sign: number): Cursor | undefined => {
  let first = cursors[0]
  for (const cursor of cursors) if (first && sign * cursor.next.atMs < sign * first.next.atMs) first = cursor
  return first
}

async function begin(messages: AsyncGenerator<RecordedMessage>): Promise<Cursor | undefined> {
  const { value, done } = await messages.next()
  return done ? undefined : { messages, next: value }
}

/** Messages are read in windows of this length. */
const WINDOW_MS = 4_000
const MAX_WINDOWS = 10
/** Most messages of a window. A hostile robot sends more; the first ones are kept. */
const MAX_MESSAGES = 8_000

interface Moment {
  readonly topic: string
  readonly atMs: number
  readonly value: Readonly<Record<string, unknown>>
}

interface Window {
  readonly moments: readonly Moment[]
  /** The parts that it was read from; undefined if they went beyond its end. Until it was read from others, its moments stay. */
  readonly parts: readonly TimedPart[] | undefined
}

const text = new TextDecoder()

/** Returns the newest messages at a time. It keeps the windows around the last one, and no more. */
export function createMomentReader(source: RecordingSource, topics: readonly string[]) {
  /** By number of the window, least recently used first. */
  const windows = new Map<number, Window>()
  const reading = new Set<number>()
  const listeners = new Set<() => void>()
  const delay = createRetryDelay()
  let nextAttemptMs = 0
  let wanted: { number: number; parts: readonly TimedPart[] } | undefined

  const isLoaded = (number: number) => {
    const window = windows.get(number)
    // The windows at the former end of a recording are read again when it has grown.
    return window !== undefined && (window.parts ?? source.parts.get()) === source.parts.get()
  }

  function load(number: number): void {
    if (number < 0 || isLoaded(number) || reading.has(number) || performance.now() < nextAttemptMs) return
    reading.add(number)
    read(number).then(
      (window) => {
        reading.delete(number)
        delay.succeeded()
        windows.delete(number)
        windows.set(number, window)
        const [oldest] = windows.keys()
        if (windows.size > MAX_WINDOWS && oldest !== undefined) windows.delete(oldest)
        for (const listener of listeners) listener()
      },
      () => {
        // The next animation frame would read it again.
        reading.delete(number)
        // Windows that fail together count once.
        const nowMs = performance.now()
        if (nowMs >= nextAttemptMs) nextAttemptMs = nowMs + delay.failed()
      },
    )
  }

  async function read(number: number): Promise<Window> {
    const fromMs = number * WINDOW_MS
    const toMs = fromMs + WINDOW_MS
    const parts = source.parts.get()
    const isWhole = Math.max(...parts.map((part) => part.toMs)) >= toMs
    const moments: Moment[] = []
    for await (const message of source.messages({ topics, fromMs, toMs: toMs - 0.001 })) {
      const value = objectIn(message.data)
      if (value) moments.push({ topic: message.topic, atMs: message.atMs, value })
      if (moments.length >= MAX_MESSAGES) break
    }
    return { moments, parts: isWhole ? undefined : parts }
  }

  return {
    /** Begins to read what surrounds a time. Call it on each animation frame: a failed read is repeated, less and less often. */
    prepare(atMs: number): void {
      const number = Math.floor(atMs / WINDOW_MS)
      const parts = source.parts.get()
      // Another place, or other parts, may be readable.
      if (number !== wanted?.number || parts !== wanted.parts) nextAttemptMs = 0
      wanted = { number, parts }
      for (const near of [number, number - 1, number + 1]) load(near)
    },

    /**
     * Returns the newest message of a topic up to a time, if it is at most four seconds old; undefined for none, and until it was
     * read.
     */
    at(topic: string, atMs: number): Moment | undefined {
      const number = Math.floor(atMs / WINDOW_MS)
      for (const near of [number, number - 1]) {
        const found = windows
          .get(near)
          ?.moments.findLast((moment) => moment.topic === topic && moment.atMs <= atMs)
        if (found) return atMs - found.atMs <= WINDOW_MS ? found : undefined
      }
      return undefined
    },

    isReady(atMs: number): boolean {
      const number = Math.floor(atMs / WINDOW_MS)
      return [number, number - 1].every((near) => near < 0 || isLoaded(near))
    },

    /** Calls a listener when a window was read. Returns a function that removes it. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
export type MomentReader = ReturnType<typeof createMomentReader>

/** Returns the JSON object of a message; undefined for anything else. */
export function objectIn(data: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.decode(data))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function commandAt(moments: MomentReader, atMs: number) {
  const passed = moments.at(recordingTopics.control, atMs)
  const dropped = moments.at(recordingTopics.dropped, atMs)
  if (dropped && (!passed || dropped.atMs > passed.atMs))
    return { ...dropped, dropped: String(dropped.value.why) }
  return passed && { ...passed, dropped: undefined }
}

/** Returns the number of a line at a time; undefined if nothing recent has it. */
export function numberAt(moments: MomentReader, key: string, atMs: number): number | undefined {
  const source = key.slice(0, key.indexOf(':'))
  const moment = source === 'control' ? commandAt(moments, atMs) : moments.at(`/${source}`, atMs)
  const isData = source === 'control' || source === 'telemetry'
  const value = valueAt(isData ? moment?.value.data : moment?.value, key.slice(source.length + 1))
  return typeof value === 'number' ? value : undefined
}

/** Returns what is at a path, whose names may have dots themselves. */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, path)) return Reflect.get(value, path)
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot)
    const found = Object.hasOwn(value, name)
      ? valueAt(Reflect.get(value, name), path.slice(dot + 1))
      : undefined
    if (found !== undefined) return found
  }
  return undefined
}
