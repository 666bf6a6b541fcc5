import { McapIndexedReader } from '@mcap/core'
import type { ObjectStore } from '../../../core/storage/object-store.ts'

/** Bytes of one request to the store, because requests take long. */
const BLOCK_BYTES = 1024 * 1024
/** Blocks in memory. A reader goes back and forth between a chunk and its index, and reads chunks of several times at once. */
const MAX_BLOCKS = 4

/** Reads parts of an object for a reader of MCAP files. Keeps the newest blocks, so that small reads near each other are one request. */
function createReadable(
  store: Pick<ObjectStore, 'readBytes'>,
  key: string,
  sizeBytes: number,
  blockBytes: number,
) {
  const blocks = new Map<number, Uint8Array>()

  async function blockAt(number: number): Promise<Uint8Array> {
    const start = number * blockBytes
    const end = Math.min(sizeBytes, start + blockBytes) - 1
    const block = blocks.get(number) ?? (await store.readBytes(key, { start, end }))
    blocks.delete(number)
    blocks.set(number, block)
    for (const oldest of blocks.keys()) {
      if (blocks.size <= MAX_BLOCKS) break
      blocks.delete(oldest)
    }
    return block
  }

  return {
    size: async () => BigInt(sizeBytes),
    async read(offset: bigint, size: bigint): Promise<Uint8Array> {
      const [start, length] = [Number(offset), Number(size)]
      if (start + length > sizeBytes) throw new RangeError('the file is shorter than its index says')
      if (length === 0) return new Uint8Array()
      const [first, last] = [Math.floor(start / blockBytes), Math.floor((start + length - 1) / blockBytes)]
      const from = start - first * blockBytes
      if (first === last) return (await blockAt(first)).subarray(from, from + length)
      const parts: Uint8Array[] = []
      for (let number = first; number <= last; number++) parts.push(await blockAt(number))
      return Buffer.concat(parts).subarray(from, from + length)
    },
  }
}

/**
 * Opens an indexed MCAP file of a store.
 * @throws ObjectMissingError, or an Error for a file that is damaged
 */
export async function readMcapFile(
  store: Pick<ObjectStore, 'readBytes'>,
  { key, sizeBytes }: { key: string; sizeBytes: number },
  blockBytes = BLOCK_BYTES,
) {
  return await McapIndexedReader.Initialize({
    readable: createReadable(store, key, sizeBytes, blockBytes),
  })
}
export type McapFileReader = Awaited<ReturnType<typeof readMcapFile>>
