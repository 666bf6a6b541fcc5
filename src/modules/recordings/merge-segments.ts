import { createHash } from 'node:crypto'
import { McapIndexedReader } from '@mcap/core'
import { ObjectMissingError, type ObjectStore } from '../../core/storage/object-store.ts'
import type { RecordedMessage } from './mcap/mcap-writer.ts'
import { type TopicDefinition, topicDefinition } from './mcap/topics.ts'

/** A segment to read. */
export interface SourceSegment {
  readonly objectKey: string
  readonly sha256: string
  readonly fromMs: number
  readonly toMs: number
}

/** A message with the definition of its topic. */
export interface DefinedMessage extends RecordedMessage {
  readonly definition: TopicDefinition
}

/** Returns the messages of a segment in the order of their times. @throws Error for a damaged one */
async function* readSegment(bytes: Uint8Array): AsyncGenerator<DefinedMessage> {
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(bytes.length),
      read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
    },
  })
  for await (const { channelId, logTime, publishTime, data } of reader.readMessages()) {
    const channel = reader.channelsById.get(channelId)
    const schema = channel && reader.schemasById.get(channel.schemaId)
    if (!channel || !schema) continue
    const frames = schema.name === 'foxglove.CompressedImage' ? 'CompressedImage' : 'CompressedVideo'
    const definition = topicDefinition(channel.topic, frames)
    yield { topic: channel.topic, logTimeNs: logTime, publishTimeNs: publishTime, data, definition }
  }
}

/**
 * Reads the segments of one stream, one after another.
 * @param onDamaged called for a segment that is missing, whose bytes are not those that were stored, or that is no valid file
 */
export async function* readStream(
  store: ObjectStore,
  segments: readonly SourceSegment[],
  events: { onRead: () => Promise<void>; onDamaged: (segment: SourceSegment) => void },
): AsyncGenerator<DefinedMessage> {
  for (const segment of segments) {
    const bytes = await readOrUndefined(store, segment)
    if (!bytes || !(yield* readAsFarAsPossible(bytes))) events.onDamaged(segment)
    await events.onRead()
  }
}

/** Returns whether the segment was read to its end. */
async function* readAsFarAsPossible(bytes: Uint8Array): AsyncGenerator<DefinedMessage, boolean> {
  try {
    yield* readSegment(bytes)
    return true
  } catch {
    return false // the bytes are in memory: a further attempt reads the same
  }
}

async function readOrUndefined(store: ObjectStore, segment: SourceSegment): Promise<Uint8Array | undefined> {
  try {
    const bytes = await store.readBytes(segment.objectKey)
    const isIntact = createHash('sha256').update(bytes).digest('hex') === segment.sha256
    return isIntact ? bytes : undefined
  } catch (cause) {
    if (cause instanceof ObjectMissingError) return undefined
    throw cause
  }
}

/** Messages of one source, in the order of their times, none before `fromNs`. */
export interface MessageSource {
  readonly fromNs: bigint
  readonly messages: AsyncIterator<DefinedMessage>
}

/**
 * Merges sources by time. A source is read only when its time has come, so that memory holds one segment of each stream that was open
 * at the same time.
 */
export async function* mergeByTime(sources: readonly MessageSource[]): AsyncGenerator<DefinedMessage> {
  const waiting = sources.toSorted((a, b) => (a.fromNs < b.fromNs ? -1 : a.fromNs > b.fromNs ? 1 : 0))
  const heads: { message: DefinedMessage; messages: AsyncIterator<DefinedMessage> }[] = []
  const advance = async (messages: AsyncIterator<DefinedMessage>) => {
    const { value, done } = await messages.next()
    if (!done) heads.push({ message: value, messages })
  }
  for (;;) {
    let first = earliest(heads)
    for (let next = waiting[0]; next; next = waiting[0]) {
      if (first && next.fromNs > first.message.logTimeNs) break
      waiting.shift()
      await advance(next.messages)
      first = earliest(heads)
    }
    if (!first) return
    heads.splice(heads.indexOf(first), 1)
    yield first.message
    await advance(first.messages)
  }
}

function earliest<H extends { message: DefinedMessage }>(heads: readonly H[]): H | undefined {
  let first: H | undefined
  for (const head of heads) if (!first || head.message.logTimeNs < first.message.logTimeNs) first = head
  return first
}
