import { McapIndexedReader } from '@mcap/core'
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

/** Which messages to read. Both bounds are included. */
export interface MessageQuery {
  readonly topics: readonly string[]
  readonly fromMs: number
  readonly toMs: number
  readonly reverse?: boolean
}

export interface TimedPart extends RemoteFile {
  readonly fromMs: number
  readonly toMs: number
}

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
    async lastBefore(topic: string, atMs: number, fromMs = 0): Promise<RecordedMessage | undefined> {
      for await (const message of messages({ topics: [topic], fromMs, toMs: atMs, reverse: true }))
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
