import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { Backoff } from './backoff.ts'
import { HubError, NotConnectedError } from './errors.ts'
import { type FeedPage, OrderedFeed } from './ordered-feed.ts'

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a delay is between 0 and base * 2^n, at most the maximum, and restarts after a reset', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 0.999_999, noNaN: true }), { maxLength: 40 }), (draws) => {
      const queue = [...draws]
      const backoff = new Backoff({ baseMs: 250, maxMs: 10_000, random: () => queue.shift() ?? 0 })
      draws.forEach((draw, attempt) => {
        expect(backoff.nextDelayMs()).toBeCloseTo(draw * Math.min(10_000, 250 * 2 ** attempt), 6)
      })
      backoff.reset()
      expect(new Backoff({ random: () => 0.999 }).nextDelayMs()).toBeLessThan(250)
    }),
  )
})

type Step =
  | { do: 'append'; live: 'now' | 'late' | 'lost' | 'twice' }
  | { do: 'answer' | 'fail' | 'cut' | 'connect' }
  | { do: 'deliver'; pick: number }

const transition: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      live: fc.constantFrom('now' as const, 'late' as const, 'lost' as const, 'twice' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver' as const), pick: fc.nat(1_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('fail' as const, 'cut' as const, 'connect' as const) }),
  },
)

/** A log, a lossy live channel, and a server whose responses may be stale when they arrive. */
class LossyServer {
  head = 0
  online = true
  readonly late: number[] = []
  readonly delivered: number[] = []
  readonly errors: unknown[] = []
  readonly open: (PromiseWithResolvers<FeedPage<number>> & { page: FeedPage<number> })[] = []
  mostOpen = 0
  readonly feed: OrderedFeed<number>
  readonly #pageSize: number

  constructor(pageSize: number, bufferLimit: number) {
    this.#pageSize = pageSize
    this.feed = new OrderedFeed<number>({
      after: 0,
      numberOf: (item) => item,
      fetchPage: (after) => this.#fetchPage(after),
      deliver: (item) => this.delivered.push(item),
      isOnline: () => this.online,
      onError: (cause) => this.errors.push(cause),
      retry: { baseMs: 0 },
      bufferLimit,
    })
  }

  #fetchPage(after: number): Promise<FeedPage<number>> {
    if (!this.online) return Promise.reject(new NotConnectedError('offline'))
    const count = Math.min(this.#pageSize, Math.max(0, this.head - after))
    const page = { items: Array.from({ length: count }, (_, at) => after + 1 + at), head: this.head }
    const request = { ...Promise.withResolvers<FeedPage<number>>(), page }
    this.open.push(request)
    this.mostOpen = Math.max(this.mostOpen, this.open.length)
    return request.promise
  }

  apply(transition: Step): void {
    if (transition.do === 'append') {
      this.head += 1
      if (transition.live === 'late') this.late.push(this.head)
      if (this.online && (transition.live === 'now' || transition.live === 'twice')) this.feed.push(this.head)
      if (this.online && transition.live === 'twice') this.late.push(this.head)
    } else if (transition.do === 'deliver' && this.online && this.late.length > 0) {
      const [item] = this.late.splice(transition.pick % this.late.length, 1)
      this.feed.push(item!)
    } else if (transition.do === 'answer') {
      const request = this.open.shift()
      request?.resolve(request.page)
    } else if (transition.do === 'fail') this.open.shift()?.reject(new HubError(503, 'try later'))
    else if (transition.do === 'cut') {
      this.online = false
      for (const request of this.open.splice(0)) request.reject(new NotConnectedError('cut'))
    } else if (transition.do === 'connect' && !this.online) {
      this.online = true
      this.feed.resync()
    }
  }
}

test('every entry is delivered exactly once, in order, despite loss, repetition, reordering and disconnects', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(transition, { maxLength: 80 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 8 }),
      async (steps, pageSize, bufferLimit) => {
        const wire = new LossyServer(pageSize, bufferLimit)
        wire.feed.resync()
        for (const step of steps) {
          wire.apply(step)
          await settle()
          expect(wire.delivered).toEqual(wire.delivered.map((_, at) => at + 1))
          expect(wire.feed.buffered).toBeLessThanOrEqual(bufferLimit)
        }
        // Finally the client is connected and the server responds.
        wire.apply({ do: 'connect' })
        wire.feed.resync()
        await vi.waitFor(
          () => {
            wire.apply({ do: 'answer' })
            expect(wire.feed.last).toBe(wire.head)
          },
          { interval: 1, timeout: 30_000 },
        )
        wire.feed.close()
        expect(wire.delivered).toEqual(Array.from({ length: wire.head }, (_, at) => at + 1))
        expect(wire.mostOpen).toBeLessThanOrEqual(1)
        // Responses that overlap with live entries are not errors.
        expect(wire.errors.filter((cause) => !(cause instanceof HubError))).toEqual([])
      },
    ),
    { seed: 20_261_101, numRuns: 150 },
  )
}, 60_000)

test('a refusal ends the feed', async () => {
  const errors: unknown[] = []
  const feed = new OrderedFeed<number>({
    after: 0,
    numberOf: (item) => item,
    fetchPage: () => Promise.reject(new HubError(404, 'Session not found')),
    deliver: () => {},
    isOnline: () => true,
    onError: (cause) => errors.push(cause),
  })
  feed.resync()
  await expect(feed.caughtUp).rejects.toMatchObject({ status: 404 })
  expect(errors).toHaveLength(1)
})

test('a log that starts over is delivered from its beginning after onReset', async () => {
  const seen: (number | 'reset')[] = []
  const feed = new OrderedFeed<number>({
    after: 7,
    numberOf: (item) => item,
    fetchPage: (after) => Promise.resolve({ items: [1, 2].filter((item) => item > after), head: 2 }),
    deliver: (item) => seen.push(item),
    isOnline: () => true,
    onReset: () => seen.push('reset'),
  })
  feed.resync()
  await feed.caughtUp
  expect(seen).toEqual(['reset', 1, 2])
})

test('the feed retries with backoff while a server withholds entries, and skips none', async () => {
  let fetches = 0
  const delivered: number[] = []
  const errors: unknown[] = []
  const feed = new OrderedFeed<number>({
    after: 0,
    numberOf: (item) => item,
    fetchPage: () => {
      fetches += 1
      return Promise.resolve({ items: fetches < 4 ? [2, 3] : [1, 2, 3], head: 3 })
    },
    deliver: (item) => delivered.push(item),
    isOnline: () => true,
    onError: (cause) => errors.push(cause),
    retry: { baseMs: 1 },
  })
  feed.resync()
  await feed.caughtUp
  expect(delivered).toEqual([1, 2, 3])
  expect(errors).toHaveLength(3)
})

test('a handler that throws is reported and does not stop the feed', async () => {
  const errors: unknown[] = []
  const delivered: number[] = []
  const feed = new OrderedFeed<number>({
    after: 0,
    numberOf: (item) => item,
    fetchPage: () => Promise.resolve({ items: [1, 2], head: 2 }),
    deliver: (item) => {
      delivered.push(item)
      if (item === 1) throw new Error('handler')
    },
    isOnline: () => true,
    onError: (cause) => errors.push(cause),
  })
  feed.resync()
  await feed.caughtUp
  await settle()
  expect(delivered).toEqual([1, 2])
  expect(errors).toMatchObject([{ message: 'handler' }])
})

test('the feed requests the log until it contains a live entry, and ignores repeated entries', async () => {
  let fetches = 0
  const delivered: number[] = []
  const feed = new OrderedFeed<number>({
    after: 0,
    numberOf: (item) => item,
    fetchPage: () => {
      fetches += 1
      return Promise.resolve(fetches < 5 ? { items: [], head: 0 } : { items: [1, 2], head: 2 })
    },
    deliver: (item) => delivered.push(item),
    isOnline: () => true,
    retry: { baseMs: 1 },
  })
  feed.push(2)
  await feed.caughtUp
  expect(delivered).toEqual([1, 2])
  feed.push(1)
  feed.push(2)
  await settle()
  expect(fetches).toBe(5)
  feed.close()
})
