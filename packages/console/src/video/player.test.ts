import { expect, test } from 'vitest'
import { createFigureReader } from './player.ts'

/** Returns a connection whose statistics are a row of a table, one for each call. */
function connectionWith(rows: readonly Record<string, number>[]) {
  let next = 0
  const getStats = async () =>
    new Map<string, unknown>([
      ['audio', { type: 'inbound-rtp', kind: 'audio', timestamp: 1, bytesReceived: 9 }],
      ['video', { type: 'inbound-rtp', kind: 'video', ...rows[next++] }],
    ]) as unknown as RTCStatsReport
  return { getStats }
}

test('the figures are those of the time since the last reading', async () => {
  const read = createFigureReader(
    connectionWith([
      { timestamp: 1_000, bytesReceived: 1_000, packetsReceived: 10, packetsLost: 0, framesDecoded: 3 },
      {
        timestamp: 3_000,
        bytesReceived: 501_000,
        packetsReceived: 485,
        packetsLost: 25,
        framesDecoded: 63,
        freezeCount: 1,
      },
    ]),
    () => 42,
  )
  expect(await read()).toBeUndefined()
  expect(await read()).toEqual({
    latencyMs: 42,
    framesPerSecond: 30,
    bitsPerSecond: 2_000_000,
    lostShare: 0.05,
    freezes: 1,
  })
})

test('a packet that arrives late is no negative loss', async () => {
  const read = createFigureReader(
    connectionWith([
      { timestamp: 1_000, packetsReceived: 10, packetsLost: 2 },
      { timestamp: 2_000, packetsReceived: 12, packetsLost: 1 },
    ]),
    () => undefined,
  )
  await read()
  expect(await read()).toMatchObject({ lostShare: 0, latencyMs: undefined })
})
