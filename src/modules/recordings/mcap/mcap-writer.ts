import { McapWriter } from '@mcap/core'
import type { TopicDefinition } from './topics.ts'

const LIBRARY = 'wheelhouse'
/** Chunks are what a reader fetches and holds in memory at a time. */
const CHUNK_BYTES = 512 * 1024

/** A message of a recording. Times are Unix nanoseconds. */
export interface RecordedMessage {
  readonly topic: string
  readonly logTimeNs: bigint
  readonly publishTimeNs: bigint
  readonly data: Uint8Array
}

/**
 * Writes an indexed MCAP file, message by message. Calls must not overlap.
 * @param write receives the bytes of the file in order
 */
export async function openMcapFile(write: (bytes: Uint8Array) => Promise<void>, chunkBytes = CHUNK_BYTES) {
  let position = 0n
  const writer = new McapWriter({
    writable: {
      position: () => position,
      write: async (bytes) => {
        position += BigInt(bytes.length)
        await write(bytes)
      },
    },
    chunkSize: chunkBytes,
  })
  await writer.start({ profile: '', library: LIBRARY })
  const channels = new Map<string, { id: number; sequence: number }>()
  const schemas = new Map<string, number>()

  async function register(definition: TopicDefinition) {
    const { topic, schemaName, schemaEncoding, schema, messageEncoding } = definition
    const schemaId =
      schemas.get(schemaName) ??
      (await writer.registerSchema({ name: schemaName, encoding: schemaEncoding, data: schema }))
    schemas.set(schemaName, schemaId)
    const id = await writer.registerChannel({ topic, messageEncoding, schemaId, metadata: new Map() })
    const channel = { id, sequence: 0 }
    channels.set(topic, channel)
    return channel
  }

  return {
    /** Adds a message. `definition` describes its topic, when the topic is new. */
    async add(message: RecordedMessage, definition: () => TopicDefinition): Promise<void> {
      const channel = channels.get(message.topic) ?? (await register(definition()))
      await writer.addMessage({
        channelId: channel.id,
        sequence: ++channel.sequence,
        logTime: message.logTimeNs,
        publishTime: message.publishTimeNs,
        data: message.data,
      })
    },
    addMetadata: (name: string, values: Readonly<Record<string, string>>): Promise<void> =>
      writer.addMetadata({ name, metadata: new Map(Object.entries(values)) }),
    /** Ends the file. Returns the number of messages of each topic. */
    async end(): Promise<ReadonlyMap<string, number>> {
      await writer.end()
      return new Map([...channels].map(([topic, { sequence }]) => [topic, sequence]))
    },
  }
}
export type McapFile = Awaited<ReturnType<typeof openMcapFile>>
