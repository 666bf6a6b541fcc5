import { McapIndexedReader } from '@mcap/core'
import type { ObjectStore } from '../storage/object-store.ts'

/** Bytes that one read fetches at least, because requests to a store take long. */
const READ_AHEAD_BYTES = 1024 * 1024

/** Reads parts of an object for a reader of MCAP files. Keeps the last part, so that small reads near each other are one request. */
function createReadable(store: Pick<ObjectStore, 'readBytes'>, key: string, sizeBytes: number) {
  let kept: { start: number; bytes: Uint8Array } | undefined
  return {
    size: async () => BigInt(sizeBytes),
    async read(offset: bigint, size: bigint): Promise<Uint8Array> {
      const start = Number(offset)
      const end = start + Number(size)
      if (end > sizeBytes) throw new RangeError('the file is shorter than its index says')
      if (!kept || start < kept.start || end > kept.start + kept.bytes.length) {
        const last = Math.min(sizeBytes, Math.max(end, start + READ_AHEAD_BYTES))
        kept = {
          start,
          bytes: size === 0n ? new Uint8Array() : await store.readBytes(key, { start, end: last - 1 }),
        }
      }
      return kept.bytes.subarray(start - kept.start, end - kept.start)
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
) {
  return await McapIndexedReader.Initialize({ readable: createReadable(store, key, sizeBytes) })
}
export type McapFileReader = Awaited<ReturnType<typeof readMcapFile>>
