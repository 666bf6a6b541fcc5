import { McapIndexedReader } from '@mcap/core'
import { expect, test } from 'vitest'
import { decodeFrame, encodeFrame, type FrameSchema } from './compressed-frame.ts'
import { openMcapFile } from './mcap-writer.ts'
import { topicDefinition } from './topics.ts'

const TOPIC = '/camera/front'

test('a camera that sends pictures and video has a channel for each', async () => {
  const parts: Uint8Array[] = []
  const file = await openMcapFile(async (bytes) => void parts.push(bytes.slice()))
  const add = async (timeNs: bigint, schema: FrameSchema, format: string) => {
    const data = encodeFrame(schema, { stampNs: timeNs, frameId: 'front', format, data: Uint8Array.of(1) })
    const message = { topic: TOPIC, logTimeNs: timeNs, publishTimeNs: timeNs, data }
    await file.add(message, topicDefinition(TOPIC, schema))
  }
  await add(1n, 'CompressedImage', 'jpeg')
  await add(2n, 'CompressedVideo', 'vp8')
  await add(3n, 'CompressedImage', 'jpeg')
  expect(await file.end()).toEqual([
    { topic: TOPIC, schema: 'foxglove.CompressedImage', messages: 2 },
    { topic: TOPIC, schema: 'foxglove.CompressedVideo', messages: 1 },
  ])
  const bytes = Buffer.concat(parts)
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(bytes.length),
      read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
    },
  })
  const read: string[] = []
  for await (const { channelId, data } of reader.readMessages({ topics: [TOPIC] })) {
    const { schemaId } = reader.channelsById.get(channelId)!
    const schema = reader.schemasById.get(schemaId)!.name.replace('foxglove.', '') as FrameSchema
    read.push(`${schema} ${decodeFrame(schema, data).format}`)
  }
  expect(read).toEqual(['CompressedImage jpeg', 'CompressedVideo vp8', 'CompressedImage jpeg'])
})
