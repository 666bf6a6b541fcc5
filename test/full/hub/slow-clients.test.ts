import type { SessionLogEvent } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Many times more than the network buffers for a client that does not read. */
const EVENTS = 3_000
const TEXT = 'x'.repeat(8_000)

/** Writes log entries of a busy session, and their domain events. */
async function writeEvents(
  { platform }: World,
  { id }: SessionFixture,
  from: number,
  count: number,
): Promise<void> {
  const {
    core: { db },
  } = platform
  const at = new Date()
  const entries = Array.from({ length: count }, (_, index) => ({
    session_id: id,
    seq: from + index,
    type: 'test.filler',
    data: { text: TEXT },
  }))
  await db
    .insertInto('session_events')
    .values(entries.map((entry) => ({ ...entry, at })))
    .execute()
  const set = { event_seq: from + count - 1 }
  await db.updateTable('sessions').set(set).where('id', '=', id).execute()
  const payloads = entries.map((entry) => JSON.stringify({ ...entry, at: at.toISOString() }))
  await db
    .insertInto('outbox')
    .values(payloads.map((payload) => ({ name: 'session.event', payload })))
    .execute()
}

async function watch(url: string, { owner, id }: SessionFixture) {
  const log: SessionLogEvent[] = []
  let disconnects = 0
  const client = new HubClient({
    url,
    token: owner.token,
    reconnect: { baseMs: 5, maxMs: 50 },
    onDisconnected: () => {
      disconnects++
    },
  })
  await client.connect()
  await client.watch(id, { onEvent: (event) => log.push(event) })
  return {
    client,
    log,
    get disconnects() {
      return disconnects
    },
  }
}

/** Returns the number of sockets according to the hub's metrics. */
async function sockets({ hubUrl }: World): Promise<number> {
  const page = await (await fetch(`${hubUrl}/metrics`)).text()
  return Number(/^wheelhouse_hub_sockets (\d+)/m.exec(page)?.[1])
}

test('a client that does not read is closed, delays no other client, and completes its log when it reads again', async () => {
  await using world = await createWorld()
  await using network = await createTcpProxy(world.hubUrl)
  const session = await openSessionFixture(world)
  await world.drained()
  const slow = await watch(network.url, session)
  const quick = await watch(world.hubUrl, session)
  try {
    expect(await sockets(world)).toBe(2)
    network.silence()
    const step = 250
    const last = EVENTS + 1
    for (let seq = 1; seq < last; seq += step) {
      await writeEvents(world, session, seq + 1, step)
      // The other client receives each step while this one is blocked.
      await waitFor(() => expect(quick.log.at(-1)?.seq).toBe(seq + step))
    }
    await waitFor(async () => expect(await sockets(world)).toBe(1))
    expect(slow.log.length).toBeLessThan(EVENTS)

    network.restore()
    await waitFor(() => expect(slow.log.at(-1)?.seq).toBe(last))
    for (const { log } of [slow, quick]) {
      expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, index) => index + 1))
    }
    expect([slow.disconnects, quick.disconnects]).toEqual([1, 0])
  } finally {
    slow.client.close()
    quick.client.close()
  }
})
