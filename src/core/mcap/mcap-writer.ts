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

/** A channel of a file: a topic in one schema. */
export interface RecordedChannel {
  readonly topic: string
  readonly schema: string
  /** The number of its messages. */
  readonly messages: number
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
  const channels = new Map<string, { id: number; topic: string; schema: string; messages: number }>()
  const schemas = new Map<string, number>()

  async function register(definition: TopicDefinition) {
    const { topic, schemaName, schemaEncoding, schema, messageEncoding } = definition
    const schemaId =
      schemas.get(schemaName) ??
      (await writer.registerSchema({ name: schemaName, encoding: schemaEncoding, data: schema }))
    schemas.set(schemaName, schemaId)
    const id = await writer.registerChannel({ topic, messageEncoding, schemaId, metadata: new Map() })
    return { id, topic, schema: schemaName, messages: 0 }
  }

  return {
    /** Adds a message. A topic has one channel for each schema: a camera may send pictures, and later video. */
    async add(message: RecordedMessage, definition: TopicDefinition): Promise<void> {
      const key = `${definition.schemaName} ${message.topic}`
      const channel = channels.get(key) ?? (await register(definition))
      channels.set(key, channel)
      await writer.addMessage({
        channelId: channel.id,
        sequence: ++channel.messages,
        logTime: message.logTimeNs,
        publishTime: message.publishTimeNs,
        data: message.data,
      })
    },
    addMetadata: (name: string, values: Readonly<Record<string, string>>): Promise<void> =>
      writer.addMetadata({ name, metadata: new Map(Object.entries(values)) }),
    /** Ends the file. Returns its channels. */
    async end(): Promise<RecordedChannel[]> {
      await writer.end()
      return [...channels.values()].map(({ topic, schema, messages }) => ({ topic, schema, messages }))
    },
  }
}
export type McapFile = Awaited<ReturnType<typeof openMcapFile>>
