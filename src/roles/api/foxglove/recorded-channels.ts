import { decodeFrame, isVideoKeyframe, type McapFileReader } from '../../../modules/recordings/mcap/index.ts'
import type { ChannelMessage } from './client-connection.ts'
import { type Channel, channelOf } from './wire.ts'

const VIDEO_SCHEMA = 'foxglove.CompressedVideo'
/** How far before a position the search for its keyframe goes back. */
const KEYFRAME_SEARCH_NS = 120_000_000_000n

/** A message as MCAP stores it. */
interface StoredMessage {
  readonly channelId: number
  readonly logTime: bigint
  readonly data: Uint8Array
}

/** Reads the messages of a recording by channel. */
export class RecordedChannels {
  readonly channels: readonly Channel[]
  readonly #reader: McapFileReader
  readonly #topicOf: ReadonlyMap<number, string>
  readonly #videoIds: ReadonlySet<number>

  constructor(reader: McapFileReader) {
    this.#reader = reader
    this.channels = [...reader.channelsById.values()].map(({ id, topic, messageEncoding, schemaId }) => {
      const schema = reader.schemasById.get(schemaId)
      return channelOf(id, {
        topic,
        messageEncoding,
        schemaName: schema?.name ?? '',
        schemaEncoding: schema?.encoding ?? '',
        schema: schema?.data ?? new Uint8Array(),
      })
    })
    this.#topicOf = new Map(this.channels.map(({ id, topic }) => [id, topic]))
    const videos = this.channels.filter(({ schemaName }) => schemaName === VIDEO_SCHEMA)
    this.#videoIds = new Set(videos.map(({ id }) => id))
  }

  isVideo(channelId: number): boolean {
    return this.#videoIds.has(channelId)
  }

  /** Reads the messages of channels from a time on, in the order of time. */
  async *from(
    channelIds: readonly number[],
    startNs: bigint,
    endNs?: bigint,
  ): AsyncGenerator<StoredMessage, void, void> {
    if (channelIds.length === 0 || (endNs !== undefined && endNs < startNs)) return
    const wanted = new Set(channelIds)
    const messages = this.#reader.readMessages({
      topics: this.#topicsOf(channelIds),
      startTime: startNs,
      ...(endNs !== undefined && { endTime: endNs }),
    })
    for await (const message of messages) if (wanted.has(message.channelId)) yield message
  }

  /** Returns the last message of a channel at a time or before it. */
  async lastBefore(channelId: number, timeNs: bigint): Promise<StoredMessage | undefined> {
    for await (const message of this.#backwards(channelId, timeNs)) return message
    return undefined
  }

  /** Returns the time of the last keyframe of a channel at a time or before it; undefined if there is none nearby. */
  async keyframeBefore(channelId: number, timeNs: bigint, signal: AbortSignal): Promise<bigint | undefined> {
    for await (const message of this.#backwards(channelId, timeNs)) {
      if (signal.aborted || timeNs - message.logTime > KEYFRAME_SEARCH_NS) return undefined
      if (this.toMessage(message).isKeyframe) return message.logTime
    }
    return undefined
  }

  /** Returns a message for clients. A frame of video that cannot be read counts as one that needs others. */
  toMessage({ channelId, logTime, data }: StoredMessage): ChannelMessage {
    const isVideo = this.isVideo(channelId)
    return { isVideo, isKeyframe: isVideo && isKeyframe(data), logTimeNs: logTime, data }
  }

  #backwards(channelId: number, timeNs: bigint) {
    return this.#reader.readMessages({
      topics: this.#topicsOf([channelId]),
      endTime: timeNs,
      reverse: true,
    })
  }

  #topicsOf(channelIds: readonly number[]): string[] {
    return channelIds.flatMap((id) => this.#topicOf.get(id) ?? [])
  }
}

function isKeyframe(data: Uint8Array): boolean {
  try {
    const frame = decodeFrame('CompressedVideo', data)
    return isVideoKeyframe(frame.format, frame.data)
  } catch {
    return false
  }
}
