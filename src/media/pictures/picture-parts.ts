/** Largest picture. A larger one is dropped. */
export const MAX_PICTURE_BYTES = 1024 * 1024
const MAX_HEAD_BYTES = 8 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')
const MULTIPART = /^multipart\/(x-mixed-replace|mixed)\s*;/i

/** Returns the line between the parts of a response; undefined if its type is not that of an MJPEG stream. */
function boundaryOf(contentType: string): Buffer | undefined {
  const name = MULTIPART.test(contentType) && /boundary="?([^";\s]{1,200})/i.exec(contentType)?.[1]
  if (!name) return undefined
  // Some cameras declare the boundary with the dashes that precede it in the body.
  return Buffer.from(name.startsWith('--') ? name : `--${name}`, 'latin1')
}

/** Reads the JPEG pictures of a `multipart/x-mixed-replace` body (MJPEG). Its memory is bounded. */
export class PictureParts {
  readonly #boundary: Buffer
  #rest: Buffer = Buffer.alloc(0)
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
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
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

  #readBoundary(): boolean {
    const at = this.#rest.indexOf(this.#boundary)
    if (at < 0) {
      // The end may be the beginning of a boundary.
      this.#discard(Math.max(0, this.#rest.length - this.#boundary.length))
      return false
    }
    this.#discard(at + this.#boundary.length)
    this.#state = 'head'
    return true
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf(HEAD_END)
    if (end < 0 && this.#rest.length <= MAX_HEAD_BYTES) return false
    if (end < 0 || end > MAX_HEAD_BYTES) throw new Error('The head of a part is too long')
    const head = this.#rest.toString('latin1', 0, end)
    this.#discard(end + HEAD_END.length)
    const length = /^content-length:\s*(\d{1,10})\s*$/im.exec(head)?.[1]
    this.#length = length === undefined ? undefined : Number(length)
    this.#isSkipped =
      !/^content-type:\s*image\/jpe?g\b/im.test(head) || (this.#length ?? 0) > MAX_PICTURE_BYTES
    this.#state = 'body'
    return true
  }

  #readLength(length: number): Buffer | undefined {
    if (this.#isSkipped) {
      const bytes = Math.min(length, this.#rest.length)
      this.#discard(bytes)
      this.#length = length - bytes
      return bytes === length ? Buffer.alloc(0) : undefined
    }
    return this.#rest.length >= length ? this.#discard(length) : undefined
  }

  #readToBoundary(): Buffer | undefined {
    const at = this.#rest.indexOf(this.#boundary)
    if (at >= 0) {
      this.#isSkipped ||= at > MAX_PICTURE_BYTES
      return this.#discard(at).subarray(0, -2) // without the line break before the boundary
    }
    if (this.#rest.length <= MAX_PICTURE_BYTES) return undefined
    this.#isSkipped = true
    this.#discard(this.#rest.length - this.#boundary.length)
    return undefined
  }

  /** Removes the first bytes, and returns them. */
  #discard(bytes: number): Buffer {
    const removed = this.#rest.subarray(0, bytes)
    this.#rest = this.#rest.subarray(bytes)
    return removed
  }
}

const isJpeg = (picture: Buffer) => picture.length > 4 && picture[0] === 0xff && picture[1] === 0xd8
