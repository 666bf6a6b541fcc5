/** Largest picture. A larger one is dropped. */
export const MAX_PICTURE_BYTES = 1024 * 1024
const MAX_HEAD_BYTES = 8 * 1024
const INITIAL_BYTES = 64 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')
/** RFC 2046 allows 70 characters. */
const MAX_BOUNDARY = 70
const MULTIPART = /^multipart\/(x-mixed-replace|mixed)\s*;/i

/** Returns the line between the parts of a response; undefined if its type is not that of an MJPEG stream. */
function boundaryOf(contentType: string): Buffer | undefined {
  const name = MULTIPART.test(contentType) && /boundary="?([^";\s]+)/i.exec(contentType)?.[1]
  if (!name || name.length > MAX_BOUNDARY) return undefined
  // Some cameras declare the boundary with the dashes that precede it in the body.
  return Buffer.from(name.startsWith('--') ? name : `--${name}`, 'latin1')
}

/**
 * Reads the JPEG pictures of a `multipart/x-mixed-replace` body (MJPEG). Its memory is bounded, and its work is proportional to the
 * received bytes, however they are divided: it looks at no byte twice.
 */
export class PictureParts {
  readonly #boundary: Buffer
  /** Holds the bytes that are not yet read, from `#start` to `#end`. */
  #buffer: Buffer = Buffer.alloc(INITIAL_BYTES)
  #start = 0
  #end = 0
  /** Up to here, the bytes do not contain what is searched. */
  #searchedTo = 0
  #state: 'boundary' | 'head' | 'body' = 'boundary'
  /** The length of the current part, if its head says it. */
  #length: number | undefined
  /** Whether the current part is left out. */
  #isSkipped = false

  private constructor(boundary: Buffer) {
    this.#boundary = boundary
  }

  /** Returns a reader; undefined if the response is no MJPEG stream. */
  static of(contentType: string): PictureParts | undefined {
    const boundary = boundaryOf(contentType)
    return boundary && new PictureParts(boundary)
  }

  /**
   * Adds received bytes. Returns the pictures that are complete.
   * @throws Error for a body that is no MJPEG stream
   */
  add(chunk: Buffer): Buffer[] {
    this.#append(chunk)
    const pictures: Buffer[] = []
    while (this.#step(pictures));
    return pictures
  }

  /** Reads the next element. Returns false if more bytes are needed. */
  #step(pictures: Buffer[]): boolean {
    if (this.#state === 'boundary') return this.#readBoundary()
    if (this.#state === 'head') return this.#readHead()
    const part = this.#length === undefined ? this.#readToBoundary() : this.#readLength(this.#length)
    if (!part) return false
    this.#state = 'boundary'
    if (!this.#isSkipped && isJpeg(part)) pictures.push(part)
    return true
  }

  #append(chunk: Buffer): void {
    const waiting = this.#end - this.#start
    if (this.#end + chunk.length > this.#buffer.length) {
      const isTooSmall = 2 * (waiting + chunk.length) > this.#buffer.length
      const target = isTooSmall ? Buffer.allocUnsafe(4 * (waiting + chunk.length)) : this.#buffer
      this.#buffer.copy(target, 0, this.#start, this.#end)
      this.#buffer = target
      this.#searchedTo -= this.#start
      this.#end = waiting
      this.#start = 0
    }
    chunk.copy(this.#buffer, this.#end)
    this.#end += chunk.length
  }

  /** Returns how many bytes precede the first occurrence; -1 without one. Continues where the last search ended. */
  #find(pattern: Buffer): number {
    const from = Math.max(this.#start, this.#searchedTo)
    const at = this.#buffer.subarray(from, this.#end).indexOf(pattern)
    if (at >= 0) return from + at - this.#start
    // The end may be the beginning of an occurrence.
    this.#searchedTo = Math.max(from, this.#end - pattern.length + 1)
    return -1
  }

  #readBoundary(): boolean {
    const at = this.#find(this.#boundary)
    if (at < 0) {
      this.#discard(this.#searchedTo - this.#start)
      return false
    }
    this.#discard(at + this.#boundary.length)
    this.#state = 'head'
    return true
  }

  #readHead(): boolean {
    const end = this.#find(HEAD_END)
    if (end < 0 && this.#end - this.#start <= MAX_HEAD_BYTES) return false
    if (end < 0 || end > MAX_HEAD_BYTES) throw new Error('The head of a part is too long')
    const head = this.#buffer.toString('latin1', this.#start, this.#start + end)
    this.#discard(end + HEAD_END.length)
    const length = /^content-length:\s*(\d{1,10})\s*$/im.exec(head)?.[1]
    this.#length = length === undefined ? undefined : Number(length)
    this.#isSkipped =
      !/^content-type:\s*image\/jpe?g\b/im.test(head) || (this.#length ?? 0) > MAX_PICTURE_BYTES
    this.#state = 'body'
    return true
  }

  #readLength(length: number): Buffer | undefined {
    const waiting = this.#end - this.#start
    if (!this.#isSkipped) return waiting >= length ? this.#take(length) : undefined
    const bytes = Math.min(length, waiting)
    this.#discard(bytes)
    this.#length = length - bytes
    return bytes === length ? NO_BYTES : undefined
  }

  #readToBoundary(): Buffer | undefined {
    const at = this.#find(this.#boundary)
    if (at >= 0) {
      this.#isSkipped ||= at > MAX_PICTURE_BYTES
      // Without the line break before the boundary, which the next search finds again.
      const part = this.#isSkipped ? NO_BYTES : this.#take(Math.max(0, at - 2))
      if (this.#isSkipped) this.#discard(at)
      return part
    }
    if (this.#end - this.#start <= MAX_PICTURE_BYTES) return undefined
    this.#isSkipped = true
    this.#discard(this.#searchedTo - this.#start)
    return undefined
  }

  /** Removes the first bytes, and returns a copy of them. */
  #take(bytes: number): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(this.#start, this.#start + bytes))
    this.#discard(bytes)
    return taken
  }

  #discard(bytes: number): void {
    this.#start += bytes
    this.#searchedTo = this.#start
  }
}

const NO_BYTES = Buffer.alloc(0)
const isJpeg = (picture: Buffer) => picture.length > 4 && picture[0] === 0xff && picture[1] === 0xd8
