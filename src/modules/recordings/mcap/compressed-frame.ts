import { foxgloveMessageSchemas, generateProto } from '@foxglove/schemas/internal.js'
import protobuf from 'protobufjs'
import descriptor, { type IFileDescriptorProto, type IFileDescriptorSet } from 'protobufjs/ext/descriptor.js'

/** A frame of a camera: one access unit of video, or one picture. */
export interface CompressedFrame {
  /** When the frame was captured, in Unix nanoseconds. */
  readonly stampNs: bigint
  /** Name of the camera. */
  readonly frameId: string
  /** `vp8` and `h264` (Annex B) for video, `jpeg` for pictures. */
  readonly format: string
  readonly data: Uint8Array
}

const NS_PER_S = 1_000_000_000n
const TIMESTAMP_FILE = 'google/protobuf/timestamp.proto'
const TIMESTAMP = `
syntax = "proto3";
package google.protobuf;
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
`

export type FrameSchema = 'CompressedVideo' | 'CompressedImage'

/** Compiles one of Foxglove's schemas. Returns its type, and its descriptor as MCAP stores it. */
function compile(name: FrameSchema) {
  const root = new protobuf.Root()
  protobuf.parse(TIMESTAMP, root, { keepCase: true })
  const text = generateProto(foxgloveMessageSchemas[name], [])
  protobuf.parse(text, root, { keepCase: true })
  root.resolveAll()
  const type = root.lookupType(`foxglove.${name}`)
  const { file } = (
    root as unknown as {
      toDescriptor(syntax: string): protobuf.Message<IFileDescriptorSet> & IFileDescriptorSet
    }
  ).toDescriptor('proto3')
  return {
    type,
    descriptor: descriptor.FileDescriptorSet.encode({ file: linked(name, file ?? []) }).finish(),
  }
}

/** Names the files and what they depend on, in the order that strict readers need, and types from the root: protobufjs does not. */
function linked(name: FrameSchema, files: readonly IFileDescriptorProto[]): IFileDescriptorProto[] {
  const fileOf = (packageName: string) => files.find((file) => file.package === packageName)
  const frames = fileOf('foxglove')
  for (const { field } of frames?.messageType ?? [])
    for (const each of field ?? []) if (each.typeName) each.typeName = `.${each.typeName}`
  return [
    { ...fileOf('google.protobuf'), name: TIMESTAMP_FILE },
    { ...frames, name: `foxglove/${name}.proto`, dependency: [TIMESTAMP_FILE] },
  ]
}

const schemas = { CompressedVideo: compile('CompressedVideo'), CompressedImage: compile('CompressedImage') }

/** Returns the descriptor of a schema: a binary FileDescriptorSet. */
export const frameDescriptor = (schema: FrameSchema): Uint8Array => schemas[schema].descriptor

/** Encodes a frame as a message of Foxglove. */
export function encodeFrame(
  schema: FrameSchema,
  { stampNs, frameId, format, data }: CompressedFrame,
): Uint8Array {
  const timestamp = { seconds: Number(stampNs / NS_PER_S), nanos: Number(stampNs % NS_PER_S) }
  return schemas[schema].type.encode({ timestamp, frame_id: frameId, format, data }).finish()
}

/**
 * Decodes a message of `encodeFrame`.
 * @throws Error for data that is no such message
 */
export function decodeFrame(schema: FrameSchema, message: Uint8Array): CompressedFrame {
  const decoded = schemas[schema].type.decode(message) as unknown as {
    timestamp?: { seconds: number | { toString(): string }; nanos: number } | null
    frame_id: string
    format: string
    data: Uint8Array
  }
  const { timestamp, frame_id: frameId, format, data } = decoded
  const stampNs = timestamp ? BigInt(timestamp.seconds.toString()) * NS_PER_S + BigInt(timestamp.nanos) : 0n
  return { stampNs, frameId, format, data }
}
