import { z } from 'zod'

// The data channel: an optional, unreliable and unordered transport (WebRTC) beside the WebSocket. It is negotiated over the
// WebSocket, belongs to that connection, and ends with it.

/** Label of the data channel that carries control. */
export const DATA_CHANNEL_LABEL = 'control'
/** Largest session description, in characters. Those of browsers have about 1,000. */
export const MAX_SDP_CHARACTERS = 16_000
/** Larger messages use the WebSocket: each lost packet of a message loses all of it. */
export const MAX_CHANNEL_MESSAGE_BYTES = 16 * 1024

/** The gateway accepts offers of data channels. It sends this frame once, after the welcome or the first state. */
export const ChannelAvailable = z.looseObject({ type: z.literal('channel_available') })
/** Offers a data channel. It replaces an earlier one of the same connection. */
export const ChannelOffer = z.looseObject({
  type: z.literal('channel_offer'),
  /** The session description (SDP) of the offer. Its candidates are ignored: the gateway answers where packets come from. */
  sdp: z.string().min(1).max(MAX_SDP_CHARACTERS),
})
export const ChannelAnswer = z.looseObject({
  type: z.literal('channel_answer'),
  /** The session description of the answer, complete with the gateway's candidates. */
  sdp: z.string(),
})
export const ChannelRefused = z.looseObject({
  type: z.literal('channel_refused'),
  message: z.string(),
  /** How long to wait before the next offer. Without it, do not offer again on this connection. */
  retry_after_ms: z.number().optional(),
})
export type ChannelRefused = z.infer<typeof ChannelRefused>

/** The number of a probe, chosen by its sender. */
const probeNumber = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
/** Asks whether the data channel works. Both sides send it over the data channel only. */
export const Probe = z.looseObject({ type: z.literal('probe'), n: probeNumber })
export const ProbeAnswer = z.looseObject({ type: z.literal('probe_answer'), n: probeNumber })
export const ProbeFrame = z.discriminatedUnion('type', [Probe, ProbeAnswer])

/**
 * The order in which the gateway sent a frame to a robot, counted from 1 on each connection. Once a data channel is answered, frames may
 * arrive late or twice: the robot ignores a frame whose `order` is not above that of the last one that it handled.
 */
export const Order = z.number().int().min(0).max(0xff_ff_ff_ff)

/** Kind of a binary frame that has another binary frame inside, with its order. */
export const BINARY_ORDERED = 3
/**
 * Size of the header before the frame inside, big-endian.
 *
 * | offset | type | field |
 * |---|---|---|
 * | 0 | u8 | kind: 3 |
 * | 1 | u8[3] | 0 |
 * | 4 | u32 | order |
 * | 8 | u32 | after: the order of the newest `session` frame |
 */
export const ORDERED_HEADER_BYTES = 12

/** Where a frame belongs in the sequence that the gateway sent. */
export interface FrameOrder {
  readonly order: number
  /** The order of the newest `session` frame before; 0 for the session in the welcome. */
  readonly after: number
}

/** Returns a binary frame of kind 3 with the frame inside. */
export function encodeOrderedFrame({ order, after }: FrameOrder, frame: Uint8Array): Uint8Array<ArrayBuffer> {
  const ordered = new Uint8Array(ORDERED_HEADER_BYTES + frame.byteLength)
  const view = new DataView(ordered.buffer)
  view.setUint8(0, BINARY_ORDERED)
  view.setUint32(4, order)
  view.setUint32(8, after)
  ordered.set(frame, ORDERED_HEADER_BYTES)
  return ordered
}

/** Returns the order and the frame inside; undefined if the frame is not of kind 3 or too short. */
export function decodeOrderedFrame(frame: Uint8Array): (FrameOrder & { frame: Uint8Array }) | undefined {
  if (frame.byteLength < ORDERED_HEADER_BYTES || frame[0] !== BINARY_ORDERED) return undefined
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  return { order: view.getUint32(4), after: view.getUint32(8), frame: frame.subarray(ORDERED_HEADER_BYTES) }
}
