import type { EncodedFrame } from './vp8-frames.ts'

const START_CODE = Uint8Array.of(0, 0, 0, 1)
const SINGLE_TIME_AGGREGATION = 24
const FRAGMENT = 28
/** Types of network abstraction layer units. */
const [SLICE, IDR_SLICE, SEQUENCE_PARAMETERS, PICTURE_PARAMETERS, DELIMITER] = [1, 5, 7, 8, 9] as const
/** Parameter sets that are remembered, and the bytes of each. Encoders use one of each kind. */
const [MAX_SETS, MAX_SET_BYTES] = [8, 4_096]

const typeOf = (unit: Uint8Array): number => (unit[0] as number) & 0x1f

/** The parameter sets that a decoder needs before a keyframe, by their numbers. */
class ParameterSets {
  readonly #byKind = {
    [SEQUENCE_PARAMETERS]: new Map<number, Uint8Array>(),
    [PICTURE_PARAMETERS]: new Map<number, Uint8Array>(),
  }

  /** Remembers a set. Its number follows the profile and the level in a sequence, and is the first field for a picture. */
  add(type: 7 | 8, unit: Uint8Array): void {
    const number = readUnsigned(unit, type === SEQUENCE_PARAMETERS ? 4 : 1)
    const sets = this.#byKind[type]
    if (number === undefined || unit.length > MAX_SET_BYTES) return
    if (!sets.has(number) && sets.size >= MAX_SETS) return
    sets.set(number, Uint8Array.from(unit))
  }

  /** Returns all sets; undefined if a kind is missing, without which nothing can be decoded. */
  all(): Uint8Array[] | undefined {
    const [sequences, pictures] = [this.#byKind[SEQUENCE_PARAMETERS], this.#byKind[PICTURE_PARAMETERS]]
    if (sequences.size === 0 || pictures.size === 0) return undefined
    return [...sequences.values(), ...pictures.values()]
  }
}

/** Reads a number in Exp-Golomb code (H.264, section 9.1) at the beginning of a byte; undefined if it is cut off or above 255. */
function readUnsigned(bytes: Uint8Array, start: number): number | undefined {
  const bit = (index: number) => ((bytes[start + (index >> 3)] ?? 0) >> (7 - (index & 7))) & 1
  let zeros = 0
  while (zeros <= 8 && bit(zeros) === 0) zeros++
  if (zeros > 7 || start + (zeros >> 2) >= bytes.length) return undefined
  let value = 1
  for (let index = 1; index <= zeros; index++) value = value * 2 + bit(zeros + index)
  return value - 1
}

/** Collects the packets of one H.264 access unit (RFC 6184, packetization mode 1). */
export class H264Frame {
  readonly #sets = new ParameterSets()
  readonly #units: Uint8Array[] = []
  /** The fragments of a unit that is not complete. */
  readonly #fragments: Uint8Array[] = []
  #isFragmented = false
  bytes = 0

  get parts(): number {
    return this.#units.length + this.#fragments.length
  }

  /** Returns whether a packet is certainly the first one of its access unit: it begins with a delimiter or sequence parameters. */
  isStart(payload: Uint8Array): boolean {
    const isAggregation = typeOf(payload) === SINGLE_TIME_AGGREGATION
    const type = isAggregation ? (payload[3] ?? 0) & 0x1f : typeOf(payload)
    return type === DELIMITER || type === SEQUENCE_PARAMETERS
  }

  /** Adds a packet. Returns false for one that does not belong to a complete access unit. */
  add(payload: Uint8Array): boolean {
    const type = typeOf(payload)
    if (type === FRAGMENT) return this.#addFragment(payload)
    if (this.#isFragmented) return false
    if (type === SINGLE_TIME_AGGREGATION) return this.#addAggregation(payload)
    if (type === 0 || type > SINGLE_TIME_AGGREGATION) return false
    this.#addUnit(payload)
    return true
  }

  #addUnit(unit: Uint8Array): void {
    this.#units.push(unit)
    this.bytes += unit.length + START_CODE.length
  }

  #addAggregation(payload: Uint8Array): boolean {
    for (let at = 1; at < payload.length; ) {
      const start = at + 2
      const end = start + (((payload[at] as number) << 8) | (payload[at + 1] ?? 0))
      if (end === start || end > payload.length) return false
      this.#addUnit(payload.subarray(start, end))
      at = end
    }
    return true
  }

  #addFragment(payload: Uint8Array): boolean {
    const [indicator, header] = payload
    if (indicator === undefined || header === undefined || payload.length < 3) return false
    const [isFirst, isLast] = [(header & 0x80) !== 0, (header & 0x40) !== 0]
    if (isFirst === this.#isFragmented || (isFirst && isLast)) return false
    if (isFirst) this.#fragments.push(Uint8Array.of((indicator & 0xe0) | (header & 0x1f)))
    this.#isFragmented = true
    this.#fragments.push(payload.subarray(2))
    this.bytes += payload.length - 2
    if (!isLast) return true
    this.#isFragmented = false
    this.#addUnit(Buffer.concat(this.#fragments.splice(0)))
    return true
  }

  /**
   * Returns the access unit in the byte-stream format (annex B), and whether it is a keyframe, which has the parameter sets before
   * it. Returns undefined if it cannot be decoded, and null if it has no picture.
   */
  finish(): EncodedFrame | undefined | null {
    if (this.#isFragmented) return undefined
    const others: Uint8Array[] = []
    let [hasPicture, isKeyframe] = [false, false]
    for (const unit of this.#units) {
      const type = typeOf(unit)
      if (type === SEQUENCE_PARAMETERS || type === PICTURE_PARAMETERS) this.#sets.add(type, unit)
      else others.push(unit)
      if (type >= SLICE && type <= IDR_SLICE) hasPicture = true
      if (type === IDR_SLICE) isKeyframe = true
    }
    if (!hasPicture) return null
    if (!isKeyframe) return { isKeyframe, data: byteStream(this.#units) }
    const sets = this.#sets.all()
    if (!sets) return undefined
    const delimiters = typeOf(others[0] as Uint8Array) === DELIMITER ? others.splice(0, 1) : []
    return { isKeyframe, data: byteStream([...delimiters, ...sets, ...others]) }
  }

  clear(): void {
    this.#units.length = 0
    this.#fragments.length = 0
    this.#isFragmented = false
    this.bytes = 0
  }
}

const byteStream = (units: readonly Uint8Array[]): Buffer =>
  Buffer.concat(units.flatMap((unit) => [START_CODE, unit]))
