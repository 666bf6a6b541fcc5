import { expect, test } from 'vitest'
import { createHeartbeatAnswers } from './heartbeat-answers.ts'
import { RobotConnection } from './robot-connection.ts'

/** Creates robots whose answers are recorded. */
function createFixture() {
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
  const { answered, counts, connect, beat, round } = createFixture()
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
  const { answered, counts, connect, beat, round } = createFixture()
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
  const { answered, connect, beat, round } = createFixture()
  const robot = connect('gone')
  for (let seq = 1; seq <= 60; seq++) beat(robot, seq, 100)
  answered.splice(0)
  robot.detach()
  round(150)
  expect(answered).toEqual([])
})
