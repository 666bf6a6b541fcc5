/** Files are read in blocks of this size, so that reads near each other need no request. */
export const BLOCK_BYTES = 256 * 1024
/** Blocks that are fetched beyond a read that follows the one before. */
const AHEAD_BLOCKS = 2
const MAX_ATTEMPTS = 3
const RETRY_MS = 300

export interface RemoteFile {
  readonly url: string
  readonly sizeBytes: number
}

/** Fetches bytes of a file: from `start` up to `end`, without it. */
export type FetchRange = (url: string, start: number, end: number) => Promise<Uint8Array>

interface Block {
  bytes: Uint8Array | undefined
  readonly arrived: Promise<Uint8Array>
}

/**
 * Keeps the blocks of files that were read last, up to a limit. Neighbouring blocks that are missing arrive with one request, and
 * two readers of the same block share it.
 */
export class BlockCache {
  readonly #fetchRange: FetchRange
  readonly #maxBlocks: number
  /** By file and number of the block, least recently used first. */
  readonly #blocks = new Map<string, Block>()
  readonly #nextOf = new Map<string, number>()

  constructor(fetchRange: FetchRange, maxBytes: number) {
    this.#fetchRange = fetchRange
    this.#maxBlocks = Math.max(1, Math.floor(maxBytes / BLOCK_BYTES))
  }

  get bytes(): number {
    return this.#blocks.size * BLOCK_BYTES
  }

  /** Reads bytes from `start` up to `end`, without it. @throws RangeError beyond the end of the file */
  async read(file: RemoteFile, start: number, end: number): Promise<Uint8Array> {
    if (end > file.sizeBytes) throw new RangeError('the file is shorter than its index says')
    if (end <= start) return new Uint8Array()
    const [first, last] = [Math.floor(start / BLOCK_BYTES), Math.floor((end - 1) / BLOCK_BYTES)]
    const blocks = this.#request(file, first, last)
    const [only] = blocks
    const offset = first * BLOCK_BYTES
    if (blocks.length === 1 && only) return (await only.arrived).subarray(start - offset, end - offset)
    const joined = new Uint8Array(end - start)
    for (const [index, block] of blocks.entries()) {
      const bytes = await block.arrived
      const at = offset + index * BLOCK_BYTES
      const from = Math.max(0, start - at)
      joined.set(bytes.subarray(from, Math.min(bytes.length, end - at)), at + from - start)
    }
    return joined
  }

  #request(file: RemoteFile, first: number, last: number): Block[] {
    const isSequential = this.#nextOf.get(file.url) === first || this.#nextOf.get(file.url) === first + 1
    if (this.#nextOf.size > this.#maxBlocks) this.#nextOf.clear()
    this.#nextOf.set(file.url, last + 1)
    const lastOfFile = Math.floor((file.sizeBytes - 1) / BLOCK_BYTES)
    const isMissing = (index: number) => !this.#blocks.has(keyOf(file, index))
    // Ahead only together with a needed block, so that reads from the cache cause no requests.
    let needed = last
    const anyMissing = range(first, last).some(isMissing)
    if (anyMissing && isSequential) needed = Math.min(lastOfFile, last + AHEAD_BLOCKS)
    for (let index = first; index <= needed; index++) {
      if (!isMissing(index)) continue
      let until = index
      while (until < needed && isMissing(until + 1)) until++
      this.#fetch(file, index, until)
      index = until
    }
    const blocks = range(first, last).map((index) => this.#use(keyOf(file, index)))
    this.#evict()
    return blocks
  }

  #use(key: string): Block {
    const block = this.#blocks.get(key)
    if (!block) throw new Error('a requested block is missing')
    this.#blocks.delete(key)
    this.#blocks.set(key, block)
    return block
  }

  #fetch(file: RemoteFile, first: number, last: number): void {
    const end = Math.min(file.sizeBytes, (last + 1) * BLOCK_BYTES)
    const all = this.#attempt(file.url, first * BLOCK_BYTES, end)
    for (const index of range(first, last)) {
      const key = keyOf(file, index)
      const arrived = all.then((bytes) => {
        // A copy, because a part of a large answer would keep all of it in memory.
        const from = (index - first) * BLOCK_BYTES
        block.bytes = last === first ? bytes : bytes.slice(from, from + BLOCK_BYTES)
        return block.bytes
      })
      const block: Block = { bytes: undefined, arrived }
      this.#blocks.set(key, block)
      // A failed block is requested again by the next read.
      arrived.catch(() => this.#blocks.get(key) === block && this.#blocks.delete(key))
    }
  }

  async #attempt(url: string, start: number, end: number): Promise<Uint8Array> {
    for (let attempt = 1; ; attempt++) {
      try {
        const bytes = await this.#fetchRange(url, start, end)
        if (bytes.length !== end - start) throw new RangeError('the answer has another length than the range')
        return bytes
      } catch (cause) {
        if (attempt === MAX_ATTEMPTS || cause instanceof RangeRefused) throw cause
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS * attempt))
      }
    }
  }

  /** Drops the blocks that were not used for the longest time. Those that are on their way stay. */
  #evict(): void {
    if (this.#blocks.size <= this.#maxBlocks) return
    for (const [key, { bytes }] of this.#blocks) {
      if (bytes) this.#blocks.delete(key)
      if (this.#blocks.size <= this.#maxBlocks) return
    }
  }
}

const keyOf = ({ url }: RemoteFile, index: number) => `${index} ${url}`
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** The platform refused a range, and would refuse it again. */
export class RangeRefused extends Error {
  constructor(status: number) {
    super(`HTTP ${status}`)
  }
}

export const fetchRangeWith =
  (send: (request: Request) => Promise<Response>): FetchRange =>
  async (url, start, end) => {
    const request = new Request(url, { headers: { Range: `bytes=${start}-${end - 1}` } })
    const response = await send(request)
    if (response.status === 206) return new Uint8Array(await response.arrayBuffer())
    await response.body?.cancel()
    if (response.status >= 500 || response.status === 429) throw new Error(`HTTP ${response.status}`)
    throw new RangeRefused(response.status)
  }
