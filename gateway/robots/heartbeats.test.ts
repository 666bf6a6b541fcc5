import { expect, test } from 'vitest'
import type { PresenceStore } from '../../src/modules/presence/presence.store.ts'
import { createHeartbeats } from './heartbeats.ts'
import { RobotConnection } from './robot-connection.ts'

type Saved = Parameters<PresenceStore['saveHeartbeats']>[0]

function createFixture(save: (heartbeats: Saved) => void) {
  const warnings: unknown[] = []
  const store = {
    saveHeartbeats: async (heartbeats: Saved) => {
      save(heartbeats)
      return heartbeats.length
    },
  } as PresenceStore
  const log = { warn: (...line: unknown[]) => warnings.push(line) } as never
  return { warnings, heartbeats: createHeartbeats({ store, log, unixMs: (ms) => ms, onMismatch: () => {} }) }
}

function connected(robotId: string): RobotConnection {
  const connection = new RobotConnection(robotId, 1, 1)
  connection.attach({} as Parameters<RobotConnection['attach']>[0])
  return connection
}

test('frequent heartbeats are written once a second, always the newest one', async () => {
  const written = new Map<string, { atMs: number; heartbeatMs: number }[]>()
  let nowMs = 0
  const { heartbeats } = createFixture((saved) => {
    for (const { robotId, lastHeartbeatMs } of saved) {
      written.set(robotId, [
        ...(written.get(robotId) ?? []),
        { atMs: nowMs, heartbeatMs: lastHeartbeatMs as number },
      ])
    }
  })
  const connections = Array.from({ length: 25 }, (_, index) => connected(`robot-${index}`))
  for (nowMs = 20; nowMs <= 10_000; nowMs += 20) {
    for (const connection of connections) {
      connection.recordHeartbeat(nowMs)
      heartbeats.enqueue(connection)
    }
    if (nowMs % heartbeats.sliceMs > 0) continue
    heartbeats.tick()
    await new Promise(setImmediate) // the statement of this slice ends
  }
  expect(written.size).toBe(connections.length)
  for (const writes of written.values()) {
    expect(writes).toHaveLength(10)
    for (const { atMs, heartbeatMs } of writes) expect(heartbeatMs).toBe(atMs)
    expect(new Set(writes.slice(1).map(({ atMs }, index) => atMs - (writes[index]?.atMs ?? 0)))).toEqual(
      new Set([1_000]),
    )
  }
})

test.each([
  [100, 1],
  [101, 2],
  [1_000, 10],
  [3_000, 10],
])('the heartbeats of %i robots take %i statements a second', async (robots, expected) => {
  let statements = 0
  const { heartbeats } = createFixture(() => void statements++)
  const connections = Array.from({ length: robots }, (_, index) => connected(`robot-${index}`))
  for (let nowMs = heartbeats.sliceMs; nowMs <= 2_000; nowMs += heartbeats.sliceMs) {
    for (const connection of connections) {
      connection.recordHeartbeat(nowMs)
      heartbeats.enqueue(connection)
    }
    heartbeats.tick()
    await new Promise(setImmediate) // the statement of this slice ends
  }
  expect(statements).toBe(2 * expected)
})

test('a robot is queued once, also if statements fail while it sends heartbeats', async () => {
  const sizes: number[] = []
  let failing = true
  const connection = connected('robot')
  const { heartbeats } = createFixture((batch) => {
    sizes.push(batch.length)
    heartbeats.enqueue(connection) // arrives while the statement runs
    if (failing) throw new Error('no database')
  })
  heartbeats.enqueue(connection)
  for (let attempt = 0; attempt < 3; attempt++)
    await expect(heartbeats.flush()).rejects.toThrow('no database')
  failing = false
  await heartbeats.flush()
  expect(sizes).toEqual([1, 1, 1, 1])
})

test('a failed statement loses no heartbeat of any waiting robot', async () => {
  const saved = new Set<string>()
  let failing = true
  const { heartbeats } = createFixture((batch) => {
    if (failing) throw new Error('no database')
    for (const { robotId } of batch) saved.add(robotId)
  })
  const connections = Array.from({ length: 50_000 }, (_, index) => connected(`robot-${index}`))
  for (const connection of connections) heartbeats.enqueue(connection)
  await expect(heartbeats.flush()).rejects.toThrow('no database')
  failing = false
  for (const connection of connections) heartbeats.enqueue(connection)
  await heartbeats.flush()
  expect(saved.size).toBe(connections.length)
})
