import { McapIndexedReader } from '@mcap/core'
import type { RecordingPart } from '../../recording/recordings.ts'
import type { BlockCache, RemoteFile } from './block-cache.ts'

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
