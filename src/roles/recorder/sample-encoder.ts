import { BINARY_HEADER_BYTES, cameraTopic, recordingTopics } from '@wheelhouse/protocol'
import { encodeFrame, type FrameSchema, type RecordedMessage } from '../../modules/recordings/mcap/index.ts'
import { FLAG_BINARY, type StreamSample, sampleKinds } from '../../modules/recordings/transport/index.ts'

/** The source of a stream. */
export interface StreamSource {
  /** `gateway`, or `camera/<name>`. */
  readonly source: string
  readonly codec: 'VP8' | 'H264' | 'JPEG' | undefined
}

const NS_PER_MS = 1_000_000
const FORMATS = { VP8: 'vp8', H264: 'h264', JPEG: 'jpeg' } as const

/** Returns Unix nanoseconds. A double has no room for them, so that the milliseconds are converted first. */
function toNanoseconds(unixMs: number): bigint {
  const wholeMs = Math.floor(unixMs)
  return BigInt(wholeMs) * BigInt(NS_PER_MS) + BigInt(Math.round((unixMs - wholeMs) * NS_PER_MS))
}

/** Returns when a command or a sample was made, as far as its age is known. */
const madeNs = ({ atMs, detail: ageMs }: StreamSample): bigint =>
  toNanoseconds(atMs - Math.max(0, ageMs || 0))

/** Returns the message of a sample; undefined for one of a kind that this version does not know. */
export function encodeSample(sample: StreamSample, source: StreamSource): RecordedMessage | undefined {
  const logTimeNs = toNanoseconds(sample.atMs)
  switch (sample.kind) {
    case sampleKinds.control:
      return {
        ...plain(recordingTopics.control, logTimeNs, controlMessage(sample)),
        publishTimeNs: madeNs(sample),
      }
    case sampleKinds.dropped:
      return plain(recordingTopics.dropped, logTimeNs, controlMessage(sample))
    case sampleKinds.telemetry:
      return {
        ...plain(recordingTopics.telemetry, logTimeNs, telemetryMessage(sample)),
        publishTimeNs: madeNs(sample),
      }
    case sampleKinds.limits:
      return plain(recordingTopics.limits, logTimeNs, sample.payload)
    case sampleKinds.latency:
      return plain(recordingTopics.latency, logTimeNs, sample.payload)
    case sampleKinds.stop:
      return plain(recordingTopics.stop, logTimeNs, sample.payload)
    case sampleKinds.goal:
      return plain(recordingTopics.goal, logTimeNs, sample.payload)
    case sampleKinds.autonomy:
      return plain(recordingTopics.autonomy, logTimeNs, sample.payload)
    case sampleKinds.video:
    case sampleKinds.image:
      return cameraMessage(sample, source, logTimeNs)
    default:
      return undefined
  }
}

/** Returns the schema of the camera of a stream. */
export const frameSchemaOf = ({ codec }: StreamSource): FrameSchema =>
  codec === 'JPEG' ? 'CompressedImage' : 'CompressedVideo'

const plain = (topic: string, logTimeNs: bigint, data: Uint8Array): RecordedMessage => ({
  topic,
  logTimeNs,
  publishTimeNs: logTimeNs,
  data,
})

function cameraMessage(
  { atMs, detail: capturedMs, payload }: StreamSample,
  source: StreamSource,
  logTimeNs: bigint,
): RecordedMessage | undefined {
  if (!source.codec) return undefined
  const frameId = source.source.slice(source.source.indexOf('/') + 1)
  const stampNs = toNanoseconds(Number.isFinite(capturedMs) ? capturedMs : atMs)
  const frame = { stampNs, frameId, format: FORMATS[source.codec], data: payload }
  const data = encodeFrame(frameSchemaOf(source), frame)
  return { topic: cameraTopic(frameId), logTimeNs, publishTimeNs: stampNs, data }
}

/** The beginning of a control frame as the gateway makes it, before the id of its session. */
const CONTROL_HEAD = Buffer.from('{"type":"control","session_id":"')
const SESSION_ID_BYTES = 36
/** The text after the id. */
const CONTROL_TAIL = Buffer.from('",')
const [BRACE_BYTES, TAIL_START] = [1, CONTROL_HEAD.length + SESSION_ID_BYTES]

/** Returns a control frame as a message. The text of its data stays as its sender wrote it. */
function controlMessage({ flags, detail: ageMs, note, payload }: StreamSample): Uint8Array {
  const [why, policyId] = note.split(' ')
  const extra = [
    ...(why ? [`"why":${JSON.stringify(why)}`] : []),
    ...(policyId ? [`"policy_id":${JSON.stringify(policyId)}`] : []),
    ...(Number.isFinite(ageMs) ? [`"age_ms":${Math.round(ageMs * 100) / 100}`] : []),
  ].join()
  if (flags & FLAG_BINARY) return binaryControl(payload, extra)
  const head = Buffer.from(`{${extra}${extra && ','}`)
  return Buffer.concat([head, payload.subarray(headBytes(payload))])
}

/** Returns the length of what a recorded frame leaves out: its session, which is known from the recording. */
function headBytes(payload: Uint8Array): number {
  const frame = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const hasSession =
    frame.subarray(0, CONTROL_HEAD.length).equals(CONTROL_HEAD) &&
    frame.subarray(TAIL_START, TAIL_START + CONTROL_TAIL.length).equals(CONTROL_TAIL)
  return hasSession ? TAIL_START + CONTROL_TAIL.length : BRACE_BYTES
}

/** Reads the header of a binary control frame: kind (1), reserved (1), ttl_ms (2), seq (4), t (8). */
function binaryControl(frame: Uint8Array, extra: string): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  if (view.byteLength < BINARY_HEADER_BYTES) return Buffer.from(`{${extra}}`)
  const [ttlMs, seq, t] = [view.getUint16(2), view.getUint32(4), view.getFloat64(8)]
  const data = base64(frame.subarray(BINARY_HEADER_BYTES))
  const fields = { seq, t, ...(ttlMs > 0 && { ttl_ms: ttlMs }), data_base64: data }
  return Buffer.from(`{${extra}${extra && ','}${JSON.stringify(fields).slice(1)}`)
}

function telemetryMessage({ flags, payload }: StreamSample): Uint8Array {
  if (!(flags & FLAG_BINARY)) return payload // a JSON object, which the gateway has parsed
  const data = base64(payload.subarray(Math.min(BINARY_HEADER_BYTES, payload.byteLength)))
  return Buffer.from(JSON.stringify({ data_base64: data }))
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
