import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTimerWheel } from './timer-wheel.ts'

const TICK_MS = 50

interface Peer {
  lastSignMs: number
  open: boolean
}

function createFixture(timeoutMs: number) {
  const silent: { peer: Peer; atMs: number }[] = []
  let nowMs = 1
  const wheel = createTimerWheel<Peer>({
    timeoutMs,
    tickMs: TICK_MS,
    onSilent: (peer) => {
      silent.push({ peer, atMs: nowMs })
      peer.open = false
    },
  })
  wheel.advance(nowMs)
  return {
    silent,
    join(): Peer {
      const peer = { lastSignMs: nowMs, open: true }
      wheel.add(peer, nowMs)
      return peer
    },
    /** Advances time in ticks, as the gateway does. */
    pass(ms: number, eachTick: (nowMs: number) => void = () => {}) {
      for (const endMs = nowMs + ms; nowMs < endMs; ) {
        nowMs = Math.min(nowMs + TICK_MS, endMs)
        eachTick(nowMs)
        wheel.advance(nowMs)
      }
    },
    /** Advances time without a tick, as in a process that stalls. */
    jump(ms: number) {
      nowMs += ms
      wheel.advance(nowMs)
    },
  }
}

test('finds a peer that sends nothing after the timeout, within a tick', () => {
  const fixture = createFixture(1_000)
  const peer = fixture.join()
  fixture.pass(999)
  expect(fixture.silent).toEqual([])
  fixture.pass(TICK_MS + 1)
  expect(fixture.silent.map((item) => item.peer)).toEqual([peer])
})

test('restarts the timeout at a sign of life', () => {
  const fixture = createFixture(1_000)
  const peer = fixture.join()
  fixture.pass(10_000, (nowMs) => {
    peer.lastSignMs = nowMs - TICK_MS
  })
  expect(fixture.silent).toEqual([])
  fixture.pass(1_000 + TICK_MS)
  expect(fixture.silent).toHaveLength(1)
})

test('reports a peer once', () => {
  const fixture = createFixture(300)
  fixture.join()
  fixture.pass(5_000)
  expect(fixture.silent).toHaveLength(1)
})

test('does not report a closed peer', () => {
  const fixture = createFixture(300)
  const peer = fixture.join()
  fixture.pass(200)
  peer.open = false
  fixture.pass(2_000)
  expect(fixture.silent).toEqual([])
})

test('after a stall of the process, finds exactly the overdue peers', () => {
  const fixture = createFixture(1_000)
  const overdue = fixture.join()
  fixture.pass(500)
  const alive = fixture.join()
  alive.lastSignMs += 60_000 // its sign of life arrives at the end of the stall
  fixture.jump(60_000)
  expect(fixture.silent.map((item) => item.peer)).toEqual([overdue])
  fixture.pass(1_000 + TICK_MS)
  expect(fixture.silent.map((item) => item.peer)).toEqual([overdue, alive])
})

test('finds every silent peer once and in time, for any rhythm of signs of life and ticks', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 30 })
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 5_000 }),
      fc.array(gaps, { minLength: 1, maxLength: 20 }),
      (timeoutMs, rhythms) => {
        const fixture = createFixture(timeoutMs)
        const peers = rhythms.map((rhythm) => {
          const peer = fixture.join()
          let signMs = peer.lastSignMs
          const signs = rhythm.map((gapMs) => {
            signMs += gapMs
            return signMs
          })
          return { peer, signs }
        })
        fixture.pass(35_000, (nowMs) => {
          for (const { peer, signs } of peers) {
            while (peer.open && signs[0] !== undefined && signs[0] <= nowMs) {
              peer.lastSignMs = signs.shift() as number
            }
          }
        })
        expect(fixture.silent).toHaveLength(peers.length)
        expect(new Set(fixture.silent.map((item) => item.peer)).size).toBe(peers.length)
        for (const { peer, atMs } of fixture.silent) {
          const silenceMs = atMs - peer.lastSignMs
          expect(silenceMs).toBeGreaterThanOrEqual(timeoutMs)
          expect(silenceMs).toBeLessThan(timeoutMs + 2 * TICK_MS)
        }
      },
    ),
    { numRuns: 60 },
  )
})
