import { createStore } from '../../base/store.ts'
import type { RecordingPart } from '../../recording/recordings.ts'
import { BlockCache, type FetchRange } from './block-cache.ts'
import {
  type MessageQuery,
  openPart,
  type PartReader,
  type RecordedMessage,
  type TimedPart,
  timedPart,
} from './part-reader.ts'

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
