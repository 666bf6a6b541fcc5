import type { PictureSize } from './picture-size.ts'

/** Profiles whose parameter sets describe the format of the chroma (ITU-T H.264, 7.3.2.1.1). */
const WITH_CHROMA_FORMAT = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135])
const MACROBLOCK = 16

/** Reads bits and Exp-Golomb codes. Beyond the end, all bits are 0. */
class BitReader {
  readonly #data: Uint8Array
  #bit = 0

  constructor(data: Uint8Array) {
    this.#data = data
  }

  bit(): number {
    const byte = this.#data[this.#bit >> 3] ?? 0
    return (byte >> (7 - (this.#bit++ & 7))) & 1
  }

  bits(count: number): number {
    let value = 0
    for (let n = 0; n < count; n++) value = value * 2 + this.bit()
    return value
  }

  unsigned(): number {
    let zeros = 0
    while (this.bit() === 0 && zeros < 32) zeros++
    return 2 ** zeros - 1 + this.bits(zeros)
  }

  signed(): number {
    const code = this.unsigned()
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2
  }
}

/** Removes the bytes that keep start codes out of the payload. */
function withoutEscapes(payload: Uint8Array): Uint8Array {
  return payload.filter(
    (byte, at) => !(byte === 3 && at >= 2 && payload[at - 1] === 0 && payload[at - 2] === 0),
  )
}

function skipScalingLists(reader: BitReader, chromaFormat: number): void {
  for (let list = 0; list < (chromaFormat === 3 ? 12 : 8); list++) {
    if (reader.bit() === 0) continue
    let next = 8
    for (let entry = 0, last = 8; entry < (list < 6 ? 16 : 64); entry++) {
      if (next !== 0) next = (last + reader.signed() + 256) % 256
      last = next === 0 ? last : next
    }
  }
}

/** Reads the fields of the high profiles. Returns the format of the chroma. */
function chromaFormatOf(reader: BitReader, profile: number): number {
  if (!WITH_CHROMA_FORMAT.has(profile)) return 1
  const format = reader.unsigned()
  if (format === 3) reader.bit()
  reader.unsigned()
  reader.unsigned()
  reader.bit()
  if (reader.bit() === 1) skipScalingLists(reader, format)
  return format
}

function skipOrderCounts(reader: BitReader): void {
  const type = reader.unsigned()
  if (type === 0) reader.unsigned()
  if (type !== 1) return
  reader.bit()
  reader.signed()
  reader.signed()
  const count = Math.min(reader.unsigned(), 255)
  for (let n = 0; n < count; n++) reader.signed()
}

/** Returns the size of the picture of a sequence parameter set; undefined for one that is damaged. */
export function parameterSetSize(payload: Uint8Array): PictureSize | undefined {
  if (payload.length < 5) return undefined
  const reader = new BitReader(withoutEscapes(payload.subarray(1)))
  const profile = reader.bits(8)
  reader.bits(16)
  reader.unsigned()
  const chromaFormat = chromaFormatOf(reader, profile)
  reader.unsigned()
  skipOrderCounts(reader)
  reader.unsigned()
  reader.bit()
  const columns = reader.unsigned() + 1
  const rows = reader.unsigned() + 1
  const isProgressive = reader.bit() === 1
  if (!isProgressive) reader.bit()
  reader.bit()
  const fieldFactor = isProgressive ? 1 : 2
  const [cropX, cropY] = cropUnits(chromaFormat, fieldFactor)
  const [left, right, top, bottom] =
    reader.bit() === 1
      ? [reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.unsigned()]
      : [0, 0, 0, 0]
  const width = columns * MACROBLOCK - cropX * (left + right)
  const height = rows * MACROBLOCK * fieldFactor - cropY * (top + bottom)
  const isPlausible = width > 0 && height > 0 && width <= 16_384 && height <= 16_384
  return isPlausible ? { width, height } : undefined
}

function cropUnits(chromaFormat: number, fieldFactor: number): readonly [number, number] {
  const x = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1
  const y = (chromaFormat === 1 ? 2 : 1) * fieldFactor
  return [x, y]
}
