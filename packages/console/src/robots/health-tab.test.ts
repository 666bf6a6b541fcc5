import { expect, test } from 'vitest'
import { connectedShare, connectedSpans, SAMPLE_MS } from './health-tab.tsx'

const startMs = Date.parse('2026-11-20T00:00:00Z')
const sample = (index: number, battery: number | null) => ({
  at: new Date(startMs + index * SAMPLE_MS).toISOString(),
  battery,
})

test('joins successive samples, and separates spans at a missing sample', () => {
  const spans = connectedSpans([sample(0, 0.5), sample(1, null), sample(3, 0.4)])
  expect(spans).toEqual([
    { fromMs: startMs, toMs: startMs + 2 * SAMPLE_MS, charges: [{ atMs: startMs, battery: 0.5 }] },
    {
      fromMs: startMs + 3 * SAMPLE_MS,
      toMs: startMs + 4 * SAMPLE_MS,
      charges: [{ atMs: startMs + 3 * SAMPLE_MS, battery: 0.4 }],
    },
  ])
  expect(connectedShare(spans, startMs, startMs + 4 * SAMPLE_MS)).toBe(0.75)
  expect(connectedShare(spans, startMs, startMs + SAMPLE_MS)).toBe(1)
  expect(connectedShare([], startMs, startMs + SAMPLE_MS)).toBe(0)
})
