import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { encodeFrame, frameDescriptor } from '../../../src/modules/recordings/mcap/compressed-frame.ts'
import { installOnDebian } from '../../support/programs/debian.ts'

const run = promisify(execFile)

/** Links a descriptor in a new pool, and reads a message with it, as Python readers of MCAP do. */
const PROGRAM = `
import base64, json, sys
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
name, files, message = sys.argv[1], base64.b64decode(sys.argv[2]), base64.b64decode(sys.argv[3])
pool = descriptor_pool.DescriptorPool()
for file in descriptor_pb2.FileDescriptorSet.FromString(files).file:
    pool.Add(file)
found = pool.FindMessageTypeByName(name)
get = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
frame = get(found)()
frame.ParseFromString(message)
print(json.dumps([frame.timestamp.seconds, frame.timestamp.nanos, frame.frame_id, frame.format, list(frame.data)]))
`

test.each(['CompressedVideo', 'CompressedImage'] as const)(
  "Google's protobuf reads a %s with the descriptor of the recording",
  async (schema) => {
    const hasProtobuf = () => run('/usr/bin/python3', ['-c', 'import google.protobuf'])
    await hasProtobuf().catch(() => installOnDebian('python3-protobuf'))
    const message = encodeFrame(schema, {
      stampNs: 1_700_000_000_123_456_789n,
      frameId: 'front',
      format: 'vp8',
      data: Uint8Array.of(1, 2, 3),
    })
    const encoded = [frameDescriptor(schema), message].map((bytes) => Buffer.from(bytes).toString('base64'))
    const { stdout } = await run('/usr/bin/python3', ['-c', PROGRAM, `foxglove.${schema}`, ...encoded])
    expect(JSON.parse(stdout)).toEqual([1_700_000_000, 123_456_789, 'front', 'vp8', [1, 2, 3]])
  },
)
