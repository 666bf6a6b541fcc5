import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createMemoryBus } from '../../../src/core/events/bus.ts'
import {
  type OutboxRelay,
  type OutboxRelayOptions,
  startOutboxRelay,
} from '../../../src/core/events/outbox-relay.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { relayLeader } from '../../support/database/relay-leader.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { query, startOutsideProvider, startWheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { waitFor } from '../../support/world/wait.ts'

const log = pino({ level: 'silent' })
/** Long enough for a busy machine to replace the leader. */
const FROZEN_MS = 10_000

/** Starts a relay that records the numbers of the events that it publishes. */
function relayOver(databaseUrl: string, parts: Partial<OutboxRelayOptions> = {}) {
  const publishedIds: number[] = []
  let leadershipLosses = 0
  const relay: OutboxRelay = startOutboxRelay({
    databaseUrl,
    log,
    bus: createMemoryBus(() => {}),
    onLeadershipLost: () => {
      leadershipLosses++
    },
    ...parts,
    publish: (event) => {
      publishedIds.push((event.payload as unknown as { n: number }).n)
      parts.publish?.(event)
    },
  })
  return {
    publishedIds,
    relay,
    get leadershipLosses() {
      return leadershipLosses
    },
    [Symbol.asyncDispose]: () => relay.close(),
  }
}

async function withDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const database = await createTestDatabase()
  try {
    await work(database.url)
  } finally {
    await database.drop()
  }
}

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => index + from)
const write = (url: string, numbers: readonly number[], pad = 0) =>
  query(
    url,
    `insert into outbox (name, payload)
     select 'test', jsonb_build_object('n', n, 'pad', (select string_agg(md5(n::text || i), '') from generate_series(1, $2::int) i))
     from unnest($1::int[]) n order by n`,
    [numbers, pad],
  )
const waiting = async (url: string) => Number((await query(url, 'select count(*) from outbox'))[0].count)
const isDrained = (url: string) => waitFor(async () => expect(await waiting(url)).toBe(0))

test.concurrent('a leader that the network has cut off is replaced, and steps back when it is reachable again', () =>
  withDatabase(async (url) => {
    await using proxy = await createTcpProxy(url)
    await using first = relayOver(proxy.url, {
      publish: () => {
        if (first.publishedIds.length === 5) proxy.silence()
      },
    })
    await waitFor(async () => expect(await relayLeader(url)).toBeDefined())
    await using second = relayOver(url)
    await write(url, upTo(20))
    await isDrained(url)
    expect(second.publishedIds).toEqual(upTo(20))
    await write(url, upTo(20, 21))
    await isDrained(url)

    proxy.restore()
    await waitFor(() => expect(first.leadershipLosses).toBe(1))
    // It is a candidate again, and becomes leader when the other stops.
    await second.relay.close()
    await write(url, upTo(5, 41))
    await isDrained(url)
    expect(second.publishedIds).toEqual(upTo(40))
    expect(first.publishedIds.slice(-5)).toEqual(upTo(5, 41))
    expect(first.publishedIds.slice(0, -5)).toEqual(upTo(first.publishedIds.length - 5))
  }))

test.concurrent('a leader that is busy or waits for a slow database is not replaced', () =>
  withDatabase(async (url) => {
    let behindUntilMs = 0
    await using first = relayOver(url, { hasBacklog: () => performance.now() < behindUntilMs })
    await waitFor(async () => expect(await relayLeader(url)).toBeDefined())
    const leader = await relayLeader(url)
    await using second = relayOver(url)

    // Redis delays it for longer than a leader may be silent.
    behindUntilMs = performance.now() + 1_500
    await write(url, upTo(10))
    await isDrained(url)
    // A slow query does the same.
    await query(url, 'begin; lock table outbox in access exclusive mode; select pg_sleep(1.5); commit')
    await write(url, upTo(10, 11))
    await isDrained(url)

    expect(await relayLeader(url)).toBe(leader)
    expect([first.publishedIds, second.publishedIds, first.leadershipLosses]).toEqual([upTo(20), [], 0])
  }))

test.concurrent('loads at most one batch at a time, by number and by size', () =>
  withDatabase(async (url) => {
    await write(url, upTo(1_200))
    await using relay = relayOver(url)
    await isDrained(url)
    expect(relay.publishedIds).toEqual(upTo(1_200))
    expect(relay.relay.batches).toBe(3)

    await relay.relay.close()
    const large = 20 // a quarter of a megabyte each
    await write(url, upTo(large), 8_192)
    await using next = relayOver(url)
    await isDrained(url)
    expect(next.publishedIds).toEqual(upTo(large))
    expect(next.relay.batches).toBeGreaterThanOrEqual(large / 5)
  }))

// Not concurrent, because it blocks this process and every other test in it.
test('a leader that was frozen in the middle of a batch publishes no more of it', () =>
  withDatabase(async (url) => {
    await using provider = await startOutsideProvider()
    const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-relay-'))
    const frozen = new Int32Array(new SharedArrayBuffer(4))
    await using first = relayOver(url, {
      // This blocks the whole process; the other hub runs in a separate process.
      publish: () => void (first.publishedIds.length === 3 && Atomics.wait(frozen, 0, 0, FROZEN_MS)),
    })
    await waitFor(async () => expect(await relayLeader(url)).toBeDefined())
    await using other = startWheelhouse({
      ROLES: 'hub',
      LOG_LEVEL: 'debug',
      DATA_DIR: dataDir,
      ...provider.env,
      DATABASE_URL: url,
      REDIS_URL: serviceUrl('redisUrl'),
      SECRET_KEY: 'a key for tests only, at least 32 characters',
    })
    await other.serving()
    await write(url, upTo(20))
    await waitFor(() => expect(first.leadershipLosses).toBe(1))
    expect(first.publishedIds).toEqual([1, 2, 3])
    await isDrained(url)
    await other.line((text) => text.includes('relaying the outbox'))
    await rm(dataDir, { recursive: true, force: true })
  }))
