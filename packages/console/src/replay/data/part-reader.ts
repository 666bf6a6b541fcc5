import { McapIndexedReader } from '@mcap/core'
import type { RecordingPart } from '../../recording/recordings.ts'
import type { BlockCache, RemoteFile } from './block-cache.ts'
import { lastNsOfMs, msOfNs, nsOfMs } from './time.ts'

/** A message of a recording. */
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
  /** From the newest to the oldest. */
  readonly reverse?: boolean
}

/** A part of a recording with times as numbers. */
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
    /** The schemas by topic. */
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
