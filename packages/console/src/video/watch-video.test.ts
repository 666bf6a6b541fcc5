import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchVideo } from './watch-video.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('location', { href: 'http://localhost/dashboard/', origin: 'http://localhost' })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a lost picture is tried again as soon as the connection is back, and soon after that', async () => {
  const attemptsMs: number[] = []
  const player = async () => {
    attemptsMs.push(performance.now())
    throw new Error('the camera answered 503')
  }
  const watch = watchVideo({ url: 'http://localhost/camera', player }, 'Camera', {} as HTMLElement)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(watch.ages()).toMatchObject({ isPictureAwaited: true, isCameraUnreachable: true })
  const before = attemptsMs.length
  watch.reconnected()
  await vi.advanceTimersByTimeAsync(1)
  expect(attemptsMs).toHaveLength(before + 1)
  await vi.advanceTimersByTimeAsync(1_250) // the shortest wait, at most a quarter longer
  expect(attemptsMs).toHaveLength(before + 2)
  watch.close()
})
