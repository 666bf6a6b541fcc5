// The WebSocket protocol of Foxglove. `foxglove.websocket.v1`: https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md.
// `foxglove.sdk.v1` has the same messages and those of playback control: https://github.com/foxglove/foxglove-sdk.

export const SDK_PROTOCOL = 'foxglove.sdk.v1'
/** The supported subprotocols. */
export const PROTOCOLS = [SDK_PROTOCOL, 'foxglove.websocket.v1'] as const
export type FoxgloveProtocol = (typeof PROTOCOLS)[number]

const NS_PER_S = 1_000_000_000n
export const NS_PER_MS = 1_000_000n

const MESSAGE_DATA = 1
const TIME = 2
const PLAYBACK_STATE = 5

/** A channel in an advertisement. */
export interface Channel {
  readonly id: number
  readonly topic: string
  readonly encoding: string
  readonly schemaName: string
  readonly schema: string
  readonly schemaEncoding: string
}

/** A topic with its schema, as MCAP stores it. */
export interface ChannelDefinition {
  readonly topic: string
  readonly schemaName: string
  readonly schemaEncoding: string
  readonly schema: Uint8Array
  readonly messageEncoding: string
}

/** Returns a topic as a channel. Binary schemas are base64. */
export function channelOf(id: number, definition: ChannelDefinition): Channel {
  const { topic, messageEncoding, schemaName, schemaEncoding, schema } = definition
  const bytes = Buffer.from(schema)
  return {
    id,
    topic,
    encoding: messageEncoding,
    schemaName,
    schemaEncoding,
    schema: bytes.toString(schemaEncoding === 'protobuf' ? 'base64' : 'utf8'),
  }
}

/** The period of a recording, in Unix nanoseconds. */
export interface TimeRange {
  readonly startNs: bigint
  readonly endNs: bigint
}

/** Returns the first message to a client. With a range, the client can control the playback. */
export function serverInfo(info: {
  readonly name: string
  readonly sessionId: string
  readonly range?: TimeRange | undefined
}): string {
  const { name, sessionId, range } = info
  return JSON.stringify({
    op: 'serverInfo',
    name,
    capabilities: range ? ['time', 'playbackControl'] : ['time'],
    supportedEncodings: [],
    metadata: {},
    sessionId,
    ...(range && { dataStartTime: secondsOf(range.startNs), dataEndTime: secondsOf(range.endNs) }),
  })
}

const secondsOf = (ns: bigint) => ({ sec: Number(ns / NS_PER_S), nsec: Number(ns % NS_PER_S) })

const statusLevels = { info: 0, warning: 1, error: 2 } as const
export type StatusLevel = keyof typeof statusLevels

/** Returns a text that the client shows to its user. */
export const statusMessage = (level: StatusLevel, message: string): string =>
  JSON.stringify({ op: 'status', level: statusLevels[level], message })

export const advertisement = (channels: readonly Channel[]): string =>
  JSON.stringify({ op: 'advertise', channels })

/** Returns a message of a channel for one subscription. */
export function messageData(subscriptionId: number, logTimeNs: bigint, data: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(13 + data.length)
  bytes[0] = MESSAGE_DATA
  bytes.writeUInt32LE(subscriptionId, 1)
  bytes.writeBigUInt64LE(logTimeNs, 5)
  bytes.set(data, 13)
  return bytes
}

export function timeMessage(ns: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(9)
  bytes[0] = TIME
  bytes.writeBigUInt64LE(ns, 1)
  return bytes
}

const playbackStatuses = { playing: 0, paused: 1, buffering: 2, ended: 3 } as const

export interface PlaybackState {
  readonly status: keyof typeof playbackStatuses
  readonly timeNs: bigint
  readonly speed: number
  /** Whether a jump in time caused the message. The client then discards what it shows. */
  readonly didSeek: boolean
  /** The request that the message answers; empty for a change without one. */
  readonly requestId: string
}

/** Returns the state of the playback: status (1), time (8), speed (4), didSeek (1), length of the request's id (4), its id. */
export function playbackStateMessage({ status, timeNs, speed, didSeek, requestId }: PlaybackState): Buffer {
  const id = Buffer.from(requestId)
  const bytes = Buffer.allocUnsafe(19 + id.length)
  bytes[0] = PLAYBACK_STATE
  bytes[1] = playbackStatuses[status]
  bytes.writeBigUInt64LE(timeNs, 2)
  bytes.writeFloatLE(speed, 10)
  bytes[14] = didSeek ? 1 : 0
  bytes.writeUInt32LE(id.length, 15)
  bytes.set(id, 19)
  return bytes
}
