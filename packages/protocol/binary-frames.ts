/**
 * Size of the header of a binary frame. A binary frame is a big-endian header and an opaque payload.
 *
 * | offset | type | field |
 * |---|---|---|
 * | 0 | u8 | kind: 1 control (operator to robot), 2 telemetry (robot to operator and observers) |
 * | 1 | u8 | flags: 0 |
 * | 2 | u16 | ttl_ms: 0 means the gateway's `deadman_ms` |
 * | 4 | u32 | seq |
 * | 8 | f64 | t: the sender's clock, milliseconds |
 */
export const BINARY_HEADER_BYTES = 16
export const BINARY_CONTROL = 1
export const BINARY_TELEMETRY = 2
/** Highest `seq` of a binary frame. */
export const MAX_BINARY_SEQ = 0xff_ff_ff_ff

export interface BinaryHeader {
  readonly kind: number
  readonly flags: number
  readonly ttlMs: number
  readonly seq: number
  readonly t: number
}

/** Returns one frame with the header and the payload. */
export function encodeBinaryFrame(header: BinaryHeader, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(BINARY_HEADER_BYTES + payload.byteLength)
  const view = new DataView(frame.buffer)
  view.setUint8(0, header.kind)
  view.setUint8(1, header.flags)
  view.setUint16(2, header.ttlMs)
  view.setUint32(4, header.seq)
  view.setFloat64(8, header.t)
  frame.set(payload, BINARY_HEADER_BYTES)
  return frame
}

/** Returns the header of a frame; undefined when the frame is shorter than a header. */
export function decodeBinaryHeader(frame: ArrayBufferView): BinaryHeader | undefined {
  if (frame.byteLength < BINARY_HEADER_BYTES) return undefined
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  return {
    kind: view.getUint8(0),
    flags: view.getUint8(1),
    ttlMs: view.getUint16(2),
    seq: view.getUint32(4),
    t: view.getFloat64(8),
  }
}
