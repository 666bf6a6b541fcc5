import { expect, test } from 'vitest'
import { BLOCK_BYTES, BlockCache, RangeRefused } from './block-cache.ts'

const SIZE = 10 * BLOCK_BYTES + 100
const content = new Uint8Array(SIZE).map((_, index) => (index * 7) % 251)

function openFile(maxBlocks = 100) {
  const requests: string[] = []
  const cache = new BlockCache(async (_, start, end) => {
    requests.push(`${start / BLOCK_BYTES}-${end / BLOCK_BYTES}`)
    return content.slice(start, end)
  }, maxBlocks * BLOCK_BYTES)
  const file = { url: '/file', sizeBytes: SIZE }
  return { cache, requests, read: (start: number, end: number) => cache.read(file, start, end) }
}

test('reads across blocks, and reads near each other need one request', async () => {
  const { read, requests } = openFile()
  expect(await read(10, 20)).toEqual(content.subarray(10, 20))
  expect(await read(100, 2_000)).toEqual(content.subarray(100, 2_000))
  expect(requests).toEqual(['0-1'])
  const [start, end] = [5 * BLOCK_BYTES - 10, 7 * BLOCK_BYTES + 10]
  expect(await read(start, end)).toEqual(content.subarray(start, end))
  expect(requests).toEqual(['0-1', '4-8'])
})

test('reads ahead when reads follow each other', async () => {
  const { read, requests } = openFile()
  await read(0, 10)
  await read(BLOCK_BYTES, BLOCK_BYTES + 10)
  await read(2 * BLOCK_BYTES, 3 * BLOCK_BYTES)
  await read(3 * BLOCK_BYTES, 3 * BLOCK_BYTES + 5)
  expect(requests).toEqual(['0-1', '1-4'])
})

test('two readers of a block share one request', async () => {
  const { read, requests } = openFile()
  await Promise.all([read(0, 10), read(5, 50)])
  expect(requests).toEqual(['0-1'])
})

test('keeps no more than its limit', async () => {
  const { cache, read, requests } = openFile(3)
  for (const index of [0, 5, 9, 2, 7]) await read(index * BLOCK_BYTES, index * BLOCK_BYTES + 1)
  expect(cache.bytes).toBeLessThanOrEqual(4 * BLOCK_BYTES)
  const before = requests.length
  await read(0, 1)
  expect(requests.length).toBe(before + 1)
})

test('tries again after a failure, and not after a refusal', async () => {
  let attempts = 0
  const failing = new BlockCache(async (_, start, end) => {
    attempts++
    if (attempts < 3) throw new Error('no network')
    return content.slice(start, end)
  }, BLOCK_BYTES)
  expect(await failing.read({ url: '/a', sizeBytes: 50 }, 0, 50)).toEqual(content.subarray(0, 50))
  let refusals = 0
  const refusing = new BlockCache(async () => {
    refusals++
    throw new RangeRefused(404)
  }, BLOCK_BYTES)
  await expect(refusing.read({ url: '/a', sizeBytes: 50 }, 0, 50)).rejects.toThrow('HTTP 404')
  expect(refusals).toBe(1)
})

test('a read beyond the end fails', async () => {
  await expect(openFile().read(SIZE - 1, SIZE + 1)).rejects.toThrow(RangeError)
})
