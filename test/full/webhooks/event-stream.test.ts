import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

interface Event {
  readonly seq: number
  readonly data: { readonly data: { readonly name: string } }
}

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const read = async (user: TestUser, query = '') => {
  const reply = await user.get(`/api/events${query}`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body as { events: Event[]; next: string; more: boolean }
}
/** Resolves when the fan-out has no pending events. */
const fannedOut = async () => {
  await world.drained()
  await waitFor(async () => {
    const left = await world.platform.core.db.selectFrom('outbound_events').select('name').execute()
    expect(left).toEqual([])
  })
}

/** Follows a stream with the cursor of the previous response and returns all events. */
async function follow(user: TestUser, query: string, until: () => boolean): Promise<Event[]> {
  const seen: Event[] = []
  let after = '0'
  for (let last = false; !last; ) {
    last = until() // one more read after the end
    for (let more = true; more; ) {
      const page = await read(user, `?after=${after}${query}`)
      seen.push(...page.events)
      ;({ next: after, more } = page)
    }
  }
  return seen
}

test('a reader that follows the cursor sees each of many concurrently committed events exactly once', async () => {
  const {
    core: { transact, db },
  } = world.platform
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          pauseMs: fc.nat(12),
          eventCount: fc.integer({ min: 1, max: 4 }),
          fails: fc.boolean(),
          who: fc.nat(1),
        }),
        { minLength: 20, maxLength: 40 },
      ),
      async (transactions) => {
        const users = [await world.client(), await world.client()] as const
        for (const user of users) await read(user)
        const committed: [string[], string[]] = [[], []]
        let done = false
        const following = users.flatMap((user) => [
          follow(user, '&limit=3', () => done),
          follow(user, '&wait=1', () => done),
        ])
        let next = 0
        const writer = async () => {
          for (let item = transactions[next++]; item; item = transactions[next++]) {
            const { pauseMs, eventCount, fails, who } = item
            const names = Array.from({ length: eventCount }, (_, n) => `${next}-${n}`)
            await transact(async (tx) => {
              // Allocates outbox ids early and commits late, so that other transactions overtake it.
              for (const name of names) {
                const payload = {
                  user_id: users[who as 0 | 1].id,
                  notification: {
                    id: '1',
                    type: 'test',
                    data: { name },
                    created_at: new Date().toISOString(),
                  },
                }
                await tx.db
                  .insertInto('outbox')
                  .values({ name: 'notification', payload: JSON.stringify(payload) })
                  .execute()
              }
              await delay(pauseMs)
              if (fails) throw new Error('rolled back')
            }).then(
              () => committed[who as 0 | 1].push(...names),
              () => {},
            )
          }
        }
        await Promise.all(Array.from({ length: 6 }, writer))
        await fannedOut()
        done = true
        const seen = await Promise.all(following)
        for (const [index, events] of seen.entries()) {
          const names = events.map(({ data }) => data.data.name)
          expect([...names].sort()).toEqual([...(committed[index < 2 ? 0 : 1] as string[])].sort())
          expect(events.map(({ seq }) => seq)).toEqual(events.map((_, position) => position + 1))
        }
        expect(await db.selectFrom('outbound_events').select('id').execute()).toEqual([])
      },
    ),
    { numRuns: 4 },
  )
})
