import { expect, test } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

const takeMany = (bucket: TokenBucket, count: number, nowMs: number) =>
  Array.from({ length: count }, () => bucket.take(nowMs)).filter((waitMs) => waitMs === 0).length

test('a bucket gives its burst at once, then as many tokens as have been refilled', () => {
  const bucket = new TokenBucket({ burst: 10, refillMs: 1_000 }, 5_000)
  expect(takeMany(bucket, 15, 5_000)).toBe(10)
  expect(takeMany(bucket, 15, 5_350)).toBe(3)
  expect(bucket.takenAtMs).toBe(5_350)
  expect(takeMany(bucket, 15, 5_400)).toBe(1)
  expect(takeMany(bucket, 15, 99_000)).toBe(10)
})

test('a refusal says when the next token is there, and costs nothing', () => {
  const bucket = new TokenBucket({ burst: 2, refillMs: 1_000 }, 0)
  expect(takeMany(bucket, 2, 0)).toBe(2)
  for (const nowMs of [0, 100, 250]) expect(bucket.take(nowMs)).toBe(500 - nowMs)
  expect(bucket.takenAtMs).toBe(0)
  expect(bucket.take(500)).toBe(0)
})

test('several tokens are taken together or not at all', () => {
  const bucket = new TokenBucket({ burst: 10, refillMs: 1_000 }, 0)
  expect(bucket.take(0, 8)).toBe(0)
  expect(bucket.take(0, 4)).toBe(200)
  expect(bucket.take(0, 2)).toBe(0)
})
