import { expect, test } from 'vitest'
import type { PresenceStore } from '../../src/modules/presence/presence.store.ts'
import { createHeartbeatAnswers, createHeartbeats } from './heartbeats.ts'
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

/** Creates robots whose answers are recorded. */
function createAnswers() {
  const answered: string[] = []
  const { answer, round, counts } = createHeartbeatAnswers({ unixMs: (ms) => 1_000_000 + ms })
  const connect = (name: string) => {
    const connection = new RobotConnection(name, 1, 0)
    const send = (frame: string) => {
      const { seq, t } = JSON.parse(frame)
      answered.push(`${name} ${seq} ${t}`)
      return 1
    }
    connection.attach({ send } as unknown as Parameters<RobotConnection['attach']>[0])
    return connection
  }
  return {
    answered,
    counts,
    connect,
    beat(connection: RobotConnection, seq: number | null, nowMs: number): void {
      connection.recordHeartbeat(nowMs)
      answer(connection, seq, nowMs)
    },
    round,
  }
}

test('beyond 50 a second, a robot receives one answer for its heartbeats, and other robots one for each', () => {
  const { answered, counts, connect, beat, round } = createAnswers()
  const [flooding, other] = [connect('flooding'), connect('other')]
  for (let seq = 1; seq <= 200; seq++) beat(flooding, seq, 100)
  expect(answered).toHaveLength(50)
  beat(other, 1, 110)
  expect(answered.splice(0).at(-1)).toBe('other 1 1000110')
  round(150)
  round(200)
  expect(answered.splice(0)).toEqual(['flooding 200 1000100'])
  expect(counts.heartbeatsCoalesced).toBe(149)

  beat(flooding, null, 900)
  beat(flooding, 202, 1_100) // the next second has begun
  round(1_150)
  expect(answered).toEqual(['flooding 202 1001100'])
  expect(counts.heartbeatsCoalesced).toBe(150)
})

test('between two rounds 2,000 are answered, and then the newest heartbeat of each robot in the order of waiting', () => {
  const { answered, counts, connect, beat, round } = createAnswers()
  const robots = Array.from({ length: 7_000 }, (_, index) => connect(`${index}`))
  for (const robot of robots) beat(robot, 1, 100)
  expect(answered.splice(0)).toHaveLength(2_000)
  for (const robot of robots.slice(2_000).toReversed()) beat(robot, 2, 120)
  expect(answered).toEqual([])
  expect(counts.heartbeatsCoalesced).toBe(5_000)

  const seen: string[] = []
  for (const expected of [2_000, 2_000, 1_000]) {
    round(150)
    expect(answered).toHaveLength(expected)
    seen.push(...answered.splice(0))
  }
  expect(seen).toEqual(robots.slice(2_000).map(({ robotId }) => `${robotId} 2 1000120`))
  for (const robot of robots) beat(robot, 3, 160)
  expect(answered).toHaveLength(1_000) // the rest of the round
})

test('a robot that disconnects while it waits receives nothing', () => {
  const { answered, connect, beat, round } = createAnswers()
  const robot = connect('gone')
  for (let seq = 1; seq <= 60; seq++) beat(robot, seq, 100)
  answered.splice(0)
  robot.detach()
  round(150)
  expect(answered).toEqual([])
})
