import { describe, expect, test } from 'vitest'
import { type DriveState, decide, type Gate } from './gate.ts'
import { PictureAge } from './picture-age.ts'

const LIMIT_MS = 700

/** Decides over a frame that only the picture can stop. */
const verdictOf = (picture: PictureAge, nowMs: number, videoLimitMs: number | null = LIMIT_MS) => {
  const gate: DriveState & Gate = {
    connected: true,
    active: true,
    latched: false,
    lastSeq: -1,
    tooLate: false,
    offsetMs: 0,
    offsetSeenMs: nowMs,
    pathMs: 0,
    latencyLimitMs: 400,
    videoLimitMs,
    picture,
  }
  return decide(gate, gate, { seq: 0, t: nowMs, ttlMs: 250 }, nowMs)
}

describe('the picture by which an operator drives', () => {
  test('passes commands up to its limit, and without a report, but not while its age is unknown', () => {
    const picture = new PictureAge()
    expect(verdictOf(picture, 1e6)).toBe('pass')
    picture.report(LIMIT_MS, 1_000)
    expect(verdictOf(picture, 1_000)).toBe('pass')
    expect(verdictOf(picture, 1_000.1), 'it grows older').toBe('video_stale')
    expect(verdictOf(picture, 1e6, null), 'without a limit').toBe('pass')
    picture.report(null, 2_000)
    expect(verdictOf(picture, 2_000)).toBe('video_stale')
    expect(verdictOf(picture, 2_000, null), 'without a limit').toBe('pass')
    picture.reset()
    expect(verdictOf(picture, 1e6), 'another connection').toBe('pass')
  })

  test('that was too old must be below four fifths of the limit', () => {
    const picture = new PictureAge()
    picture.exceedLimit()
    picture.report(560.1, 0)
    expect(verdictOf(picture, 0)).toBe('video_stale')
    picture.report(560, 0)
    expect(verdictOf(picture, 0)).toBe('pass')
    picture.accept()
    picture.report(600, 0)
    expect(verdictOf(picture, 0)).toBe('pass')
  })

  test('counts for the speed only while its operator drives', () => {
    const picture = new PictureAge()
    expect(picture.recentMs(0)).toBe(0)
    picture.report(120, 0)
    expect(picture.recentMs(1_000)).toBe(120)
    expect(picture.recentMs(1_001)).toBe(0)
    picture.reset()
    expect(picture.at(0)).toBeUndefined()
  })
})
