import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTelemetryFeed } from './feed.ts'

describe('the age of telemetry', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  const feedOf = (gapsMs: readonly number[]) => {
    const feed = createTelemetryFeed()
    feed.handlers.onTelemetry({})
    for (const gapMs of gapsMs) {
      vi.advanceTimersByTime(gapMs)
      feed.handlers.onTelemetry({})
    }
    return feed
  }
  const ageAfter = (feed: ReturnType<typeof createTelemetryFeed>, ms: number) => {
    vi.advanceTimersByTime(ms)
    return feed.ageMs()
  }

  test('is unknown before the first sample, and then the time since the newest one', () => {
    expect(createTelemetryFeed().ageMs()).toBeUndefined()
    expect(ageAfter(feedOf([100, 100, 100]), 1_200)).toBe(1_200)
  })

  test('counts a robot that sends a sample a second only from when the next one was due', () => {
    const feed = feedOf([1_000, 1_010, 1_000])
    expect(ageAfter(feed, 900)).toBe(0)
    expect(ageAfter(feed, 1_300)).toBe(1_200)
  })

  test('takes a single long gap for a delay', () => {
    expect(ageAfter(feedOf([100, 2_000, 100]), 500)).toBe(500)
  })
})
