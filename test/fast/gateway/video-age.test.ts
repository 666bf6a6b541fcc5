import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlFixture } from '../../support/gateway/control-fixture.ts'
import { simulateControl } from '../../support/gateway/simulated-control.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

describe('under a simulated clock, with a limit of 700 ms', () => {
  const { open: openSession, robot, join } = simulateControl()
  let fixture: ControlFixture
  const open = async ({
    latencyBudgetMs = null as number | null,
    videoLimitMs = 700 as number | null,
  } = {}) => {
    fixture = await openSession({ latencyBudgetMs, videoLimitMs })
    return await join()
  }
  /** Returns how many of these commands reach the robot. */
  const passing = (send: () => void) => {
    const before = robot().controls
    send()
    return robot().controls - before
  }

  test('an old picture drops commands and halts the robot, until the picture is well below the limit', async () => {
    const operator = await open()
    expect(passing(() => fixture.control(operator, { videoAgeMs: 700 }))).toBe(1)
    expect(robot().moving).toBe(true)
    expect(passing(() => fixture.control(operator, { videoAgeMs: 701 }))).toBe(0)
    expect(operator.dropped).toEqual(['video_stale'])
    expect(robot().moving).toBe(false)
    expect(operator.state).toContain('"reason":"video_stale","latched":false')
    expect(passing(() => fixture.control(operator, { videoAgeMs: 600 }))).toBe(0)
    expect(passing(() => fixture.control(operator, { videoAgeMs: 560 }))).toBe(1)
    expect(operator.state).toContain('"stop":null')
    expect(passing(() => fixture.control(operator, { videoAgeMs: 600 }))).toBe(1)
  })

  test('commands without an age count with the last report and the time since; a picture of unknown age holds the robot', async () => {
    const operator = await open()
    const passes = () => passing(() => fixture.control(operator))
    expect(passes(), 'never reported').toBe(1)
    fixture.control(operator, { videoAgeMs: 300 })
    await fixture.pass(390)
    expect(passes(), String(operator.dropped)).toBe(1)
    await fixture.pass(20)
    expect(passes()).toBe(0)
    fixture.control(operator, { videoAgeMs: null })
    expect(passes(), 'unknown').toBe(0)
    fixture.control(operator, { videoAgeMs: 10_000 })
    expect(passing(() => fixture.control(operator, { binary: true }))).toBe(0)
    const newer = await join()
    expect(
      passing(() => fixture.control(newer)),
      'another connection',
    ).toBe(1)
  })

  test('binary commands count with the frames beside them', async () => {
    const operator = await open()
    const report = (ageMs: number | null) =>
      operator.socket.receiveFrame({ type: 'video_age', video_age_ms: ageMs })
    const passes = () => passing(() => fixture.control(operator, { binary: true }))
    report(100)
    expect(passes()).toBe(1)
    report(5_000)
    expect(passes()).toBe(0)
    expect(operator.dropped).toEqual(['video_stale'])
    report(100)
    expect(passes()).toBe(1)
    report(null)
    expect(passes()).toBe(0)
    report(100)
    expect(passes()).toBe(1)
  })

  test('the limit follows the setting of the owner, in an open session', async () => {
    const operator = await open({ videoLimitMs: null })
    expect(passing(() => fixture.control(operator, { videoAgeMs: 60_000 }))).toBe(1)
    expect(passing(() => fixture.control(operator, { videoAgeMs: null }))).toBe(1)
    fixture.book.setVideoLimit(500)
    await fixture.pass(200)
    expect(passing(() => fixture.control(operator, { videoAgeMs: 501 }))).toBe(0)
    expect(passing(() => fixture.control(operator, { videoAgeMs: 400 }))).toBe(1)
  })

  test('a command that waits for a robot that does not read is not sent with a picture that became too old', async () => {
    const operator = await open()
    fixture.control(operator, { videoAgeMs: 650 })
    robot().socket.pause()
    fixture.control(operator, { videoAgeMs: 650 }) // queued: it blocks the robot
    fixture.control(operator, { videoAgeMs: 650 }) // waits
    const { controls } = robot()
    await fixture.pass(60)
    robot().socket.resume()
    expect(robot().controls).toBe(controls)
    expect(operator.dropped).toEqual(['expired'])
  })

  test('the speed is limited by the age of the picture and of the command together', async () => {
    const operator = await open({ latencyBudgetMs: 100 })
    await fixture.pass(1_000)
    fixture.control(operator, { videoAgeMs: 20 })
    expect(operator.limits.at(-1)).toEqual({ type: 'limits', speed_scale: 1, reason: null })
    fixture.control(operator, { videoAgeMs: 100, delayMs: 100 })
    expect(operator.limits.at(-1)).toMatchObject({ speed_scale: 0.5, reason: 'latency' })
    fixture.control(operator, { videoAgeMs: 300, delayMs: 100 })
    expect(operator.limits.at(-1)).toMatchObject({ speed_scale: 0.25, reason: 'picture_age' })
    await fixture.pass(3_000)
    expect(operator.limits.at(-1), 'an operator who rests').toMatchObject({ speed_scale: 1 })
  })
})

describe('over sockets', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '30000', DEADMAN_MS: '5000' } })
  })
  afterAll(async () => await world[Symbol.asyncDispose]())

  test('a frozen picture halts the robot, and the session records it', async () => {
    const { client, link, id, operator } = await openSessionFixture(world)
    await link.next('session')
    const console = await world.drive(operator, id)
    await console.state()
    const command = (seq: number, videoAgeMs: number) =>
      `{"type":"control","seq":${seq},"t":${performance.now()},"ttl_ms":10000,"video_age_ms":${videoAgeMs},"data":{"seq":${seq}}}`
    console.send(command(1, 33.4))
    expect(await link.next('control')).toEqual({
      type: 'control',
      session_id: id,
      seq: 1,
      t: expect.any(Number),
      ttl_ms: expect.any(Number),
      data: { seq: 1 },
    })
    console.send(command(2, 701))
    expect(await console.next('dropped')).toEqual({ type: 'dropped', seq: 2, why: 'video_stale' })
    expect(await link.next('stop')).toMatchObject({ reason: 'video_stale', latched: false })
    // The same in another order of the fields, which the gateway parses.
    console.control({}, { seq: 3, video_age_ms: 701 })
    expect(await console.next('dropped')).toEqual({ type: 'dropped', seq: 3, why: 'video_stale' })
    console.control({ seq: 4 }, { seq: 4, video_age_ms: 0 })
    expect((await link.next('control')).data).toEqual({ seq: 4 })
    await console.state(({ stop }) => stop === null)
    await client.patch(`/api/sessions/${id}`, { action: 'end' })
    await waitFor(async () => {
      const { latency } = (await client.get(`/api/sessions/${id}`)).body
      expect(latency).toMatchObject({ frames: 2, dropped: 2 })
      expect(latency.video).toEqual({
        p50_ms: expect.any(Number),
        p95_ms: expect.any(Number),
        max_ms: expect.any(Number),
        dropped: 2,
      })
      expect(latency.video.max_ms).toBeGreaterThanOrEqual(33.4)
      expect(latency.video.max_ms).toBeLessThan(700)
    })
    const metrics = await (await fetch(`${world.gatewayUrl.replace('ws', 'http')}/metrics`)).text()
    expect(metrics).toMatch(/wheelhouse_control_video_stale_total [1-9]/)
  })
})
