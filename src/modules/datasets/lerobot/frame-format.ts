import { parameterSetSize } from './h264-size.ts'
import type { PictureSize } from './picture-size.ts'

/** The formats of frames that a dataset can hold. */
export type FrameFormat = 'vp8' | 'h264' | 'jpeg'
export const isFrameFormat = (format: string): format is FrameFormat => /^(vp8|h264|jpeg)$/.test(format)

/** The properties of a frame, read from its bytes. Only keyframes have a size. */
export interface FrameHeader {
  readonly isKey: boolean
  readonly size: PictureSize | undefined
}

const DELTA: FrameHeader = { isKey: false, size: undefined }

/** Reads the header of a frame. Damaged frames count as frames between keyframes. */
export function frameHeader(format: FrameFormat, data: Uint8Array): FrameHeader {
  if (format === 'vp8') return vp8Header(data)
  if (format === 'h264') return h264Header(data)
  const size = jpegSize(data)
  return size ? { isKey: true, size } : DELTA
}

/** Reads the frame header of RFC 6386, 9.1. */
function vp8Header(data: Uint8Array): FrameHeader {
  const isKey =
    data.length >= 10 &&
    ((data[0] as number) & 1) === 0 &&
    data[3] === 0x9d &&
    data[4] === 0x01 &&
    data[5] === 0x2a
  if (!isKey) return DELTA
  const read = (at: number) => ((data[at] as number) | ((data[at + 1] as number) << 8)) & 0x3fff
  return { isKey, size: { width: read(6), height: read(8) } }
}

const NAL_IDR = 5
export const NAL_SEQUENCE_PARAMETERS = 7
/** The first NAL unit of an access unit, if the encoder writes it. */
export const NAL_DELIMITER = 9

/** Returns the NAL units of an access unit in the byte stream format (Annex B). */
export function* nalUnits(data: Uint8Array): Generator<{ type: number; start: number; payload: Uint8Array }> {
  let begin = nextStartCode(data, 0)
  while (begin < data.length) {
    const start = begin + 3
    const end = nextStartCode(data, start)
    if (start < data.length)
      yield { type: (data[start] as number) & 31, start: begin, payload: data.subarray(start, end) }
    begin = end
  }
}

/** Returns the position of the next start code `00 00 01`; the length of the data if there is no other. */
function nextStartCode(data: Uint8Array, from: number): number {
  for (let at = from + 2; at < data.length; at++) {
    const byte = data[at] as number
    if (byte > 1) at += 2
    else if (byte === 1 && data[at - 1] === 0 && data[at - 2] === 0) return at - 2
  }
  return data.length
}

function h264Header(data: Uint8Array): FrameHeader {
  let size: PictureSize | undefined
  for (const { type, payload } of nalUnits(data)) {
    if (type === NAL_SEQUENCE_PARAMETERS) size = parameterSetSize(payload)
    if (type === NAL_IDR) return { isKey: size !== undefined, size }
    // Slices of other pictures follow: the rest of a large frame has nothing to read.
    if (type === 1) return DELTA
  }
  return DELTA
}

/** Reads the size of a JPEG from its frame header. */
function jpegSize(data: Uint8Array): PictureSize | undefined {
  if (data[0] !== 0xff || data[1] !== 0xd8) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let at = 2; at + 9 < data.length; ) {
    if (data[at] !== 0xff) return undefined
    const marker = data[at + 1] as number
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) {
      const size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
      return size.width > 0 && size.height > 0 ? size : undefined
    }
    at += 2 + view.getUint16(at + 2)
  }
  return undefined
}
