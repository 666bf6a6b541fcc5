type Bytes = Uint8Array<ArrayBuffer>

const MAX_PART_BYTES = 8_000_000
const HEAD_END = [13, 10, 13, 10]
const DASHES = '--'

/**
 * Reads the parts of a `multipart/x-mixed-replace` body. The length of a part is that of its header, or it ends at the next
 * boundary.
 */
export class MjpegParts {
  readonly #boundary: readonly number[] | undefined
  #rest: Bytes = new Uint8Array()

  /** @param contentType of the response, which names the boundary */
  constructor(contentType: string) {
    const name = /boundary="?([^";]+)/i.exec(contentType)?.[1]?.trim()
    // Some cameras declare the boundary with the dashes that precede it in the body.
    const line = name?.startsWith(DASHES) ? name : DASHES + name
    this.#boundary = name ? Array.from(line, (char) => char.charCodeAt(0)) : undefined
  }

  /**
   * Adds received bytes. Returns the newest complete part, because low latency matters more than every picture; undefined
   * without one.
   * @throws for a part that is too large, or has neither a length nor a boundary
   */
  add(chunk: Bytes): Bytes | undefined {
    this.#rest = concat(this.#rest, chunk)
    let newest: Bytes | undefined
    for (let part = this.#take(); part; part = this.#take()) newest = part
    if (this.#rest.length > MAX_PART_BYTES) throw new Error('the video contains no frame')
    return newest
  }

  #take(): Bytes | undefined {
    const rest = this.#rest
    const headEnd = find(rest, HEAD_END, 0)
    if (headEnd < 0) return undefined
    const start = headEnd + HEAD_END.length
    const end = this.#endOfPart(start, new TextDecoder('latin1').decode(rest.subarray(0, headEnd)))
    if (end < 0 || rest.length < end) return undefined
    this.#rest = rest.slice(end)
    return rest.slice(start, end)
  }

  #endOfPart(start: number, head: string): number {
    const length = Number(/content-length:\s*(\d+)/i.exec(head)?.[1] ?? Number.NaN)
    if (Number.isFinite(length)) return start + length
    if (this.#boundary === undefined) throw new Error('a frame has neither a length nor a boundary')
    return find(this.#rest, this.#boundary, start)
  }
}

function find(bytes: Bytes, wanted: readonly number[], from: number): number {
  const [first = 0] = wanted
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at
  }
  return -1
}

function concat(first: Bytes, second: Bytes): Bytes {
  if (first.length === 0) return second
  const joinedBytes = new Uint8Array(first.length + second.length)
  joinedBytes.set(first)
  joinedBytes.set(second, first.length)
  return joinedBytes
}
