import { encodeBinaryFrame, MAX_FRAME_BYTES } from '@wheelhouse/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ControlFixture, TestParticipant } from '../../support/gateway/control-fixture.ts'
import { simulateControl } from '../../support/gateway/simulated-control.ts'

const { open, session, robot, join } = simulateControl()
let fixture: ControlFixture
beforeEach(async () => {
  fixture = await open()
})

const binary = (kind: number, t = 1) =>
  encodeBinaryFrame({ kind, flags: 0, ttlMs: 250, seq: 1, t }, new Uint8Array(4))
const control = { type: 'control', seq: 1, t: 1, data: 0 }
/** Returns the types of the answers to these frames. */
function answersTo(participant: TestParticipant, ...frames: unknown[]): string[] {
  participant.answers.splice(0)
  for (const frame of frames) participant.socket.receiveFrame(frame)
  return participant.answers.map(({ type }) => type)
}
const isUntouched = () => expect(robot()).toMatchObject({ controls: 0, stops: [], moving: false })

test.each<[string, unknown]>([
  ['invalid JSON', '{'],
  ['JSON that is not an object', '[]'],
  ['a frame without a type', '{"seq":1}'],
  ['control without a number', { ...control, seq: undefined }],
  ['control with a fractional number', { ...control, seq: 1.5 }],
  ['control with a negative number', { ...control, seq: -1 }],
  ['control without a time', { ...control, t: undefined }],
  ['control with a time as a string', { ...control, t: '1' }],
  ['control with an infinite time', '{"type":"control","seq":1,"t":1e999,"data":0}'],
  ['control with a ttl of 0', { ...control, ttl_ms: 0 }],
  ['control with a ttl that is too long', { ...control, ttl_ms: 65_536 }],
  ['control with a scale of 0', { ...control, speed_scale: 0 }],
  ['control with a scale above 1', { ...control, speed_scale: 1.5 }],
  ['control with a scale that is no number', { ...control, speed_scale: 'half' }],
  ['control with a negative age of the picture', { ...control, video_age_ms: -1 }],
  ['control with an age of the picture as a string', { ...control, video_age_ms: '1' }],
  ['control with an age of the picture that is an object', { ...control, video_age_ms: {} }],
  ['a stop with a reason that is too long', { type: 'stop', reason: 'x'.repeat(501) }],
  ['a ping without a time', { type: 'ping' }],
  ['a binary frame without a header', new Uint8Array(15)],
  ['binary telemetry', binary(2)],
  ['binary control with a time of NaN', binary(1, Number.NaN)],
  ['binary control with an infinite time', binary(1, Number.POSITIVE_INFINITY)],
  [
    'control that is too large when it is relayed',
    // The gateway adds the id of the session.
    `{"type":"control","seq":1,"t":1,"data":"${'x'.repeat(MAX_FRAME_BYTES - 50)}"}`,
  ],
])('%s is answered with an error, and the fifth in a row closes the connection', async (_name, frame) => {
  const operator = await join()
  const four = [frame, frame, frame, frame]
  const answers = [...Array<string>(4).fill('error'), 'pong']
  expect(answersTo(operator, ...four, { type: 'ping', t: 1 })).toEqual(answers)
  expect(answersTo(operator, ...four, { type: 'ping', t: 2 }), 'not in a row').toEqual(answers)
  for (const { type, message } of operator.answers)
    if (type === 'error') expect(message).toEqual(expect.stringMatching(/\S/))
  expect(answersTo(operator, ...four, frame)).toEqual(Array(5).fill('error'))
  expect(operator.socket.closed).toBe(4002)
  isUntouched()
})

test('an error names the field that is wrong', async () => {
  const operator = await join()
  answersTo(operator, { ...control, speed_scale: 2 }, { ...control, video_age_ms: -1 })
  expect(operator.answers.map(({ message }) => message)).toEqual([
    expect.stringContaining('speed_scale'),
    expect.stringContaining('video_age_ms'),
  ])
})

test('a frame that is too large is answered with an error, and closes no connection', async () => {
  const operator = await join()
  const frame = { ...control, data: 'x'.repeat(MAX_FRAME_BYTES) }
  expect(answersTo(operator, ...Array(8).fill(frame))).toEqual(Array(8).fill('error'))
  expect(operator.answers[0]?.message).toContain(`${MAX_FRAME_BYTES} bytes`)
  expect(answersTo(operator, { type: 'ping', t: 1 })).toEqual(['pong'])
  isUntouched()
})

test.each<[string, unknown]>([
  ['control', control],
  ['binary control', binary(1)],
  ['the age of a picture', { type: 'video_age', video_age_ms: 60_000 }],
])('%s on a watch connection of the operator is an error and has no effect', async (_name, frame) => {
  const [operator, observer] = [await join(), await join('watch')]
  expect(answersTo(observer, ...Array(5).fill(frame))).toEqual(Array(5).fill('error'))
  expect(observer.answers[0]?.message).toContain('Observers')
  expect(observer.socket.closed).toBe(4002)
  isUntouched()
  fixture.control(operator)
  expect(robot().controls).toBe(1)
})

test('frames of unknown types are ignored', async () => {
  const operator = await join()
  const unknown = Array(10).fill({ type: 'honk', volume: 11 })
  expect(answersTo(operator, ...unknown, { type: 'ping', t: 1, extra: true })).toEqual(['pong'])
})

test.each(['control', 'watch'] as const)(
  'more than a thousand frames in a second on %s close the connection with 4029',
  async (part) => {
    const participant = await join(part)
    const frames = Array<string>(1_000).fill('{"type":"ping","t":1}')
    answersTo(participant, ...frames)
    expect(participant.socket.closed).toBeNull()
    await fixture.pass(1_000)
    answersTo(participant, ...frames, frames[0])
    expect(participant.socket.closed).toBe(4029)
  },
)

test('a stop that is sent before the first state is accepted', async () => {
  fixture.setQuick(false)
  const early = fixture.join(session().id, 'watch')
  early.socket.receiveFrame({ type: 'stop', reason: 'at once' })
  expect(early.state).toBeNull()
  expect(robot().latched).toBe('at once')
  fixture.setQuick(true)
  await fixture.pass(1_000)
  expect(JSON.parse(early.state as string).stop).toMatchObject({ reason: 'at once', recorded: true })
})

describe('a gateway that is busy with one account', () => {
  let clockMs = 0
  let busy: ControlFixture
  beforeEach(async () => {
    clockMs = 0
    busy = await open({ frameClockMs: () => clockMs })
    // The time of the server in a pong is read within the handling of the ping.
    vi.spyOn(Date, 'now').mockImplementation(() => (clockMs += 300))
  })
  afterEach(() => vi.restoreAllMocks())
  const pings = (count: number) => Array.from({ length: count }, (_, t) => ({ type: 'ping', t }))

  test('refuses its frames and says so once a second, but reads its stops and the heartbeats of the robot', async () => {
    const operator = await join()
    const answers = answersTo(operator, ...pings(20))
    expect(answers.filter((type) => type === 'pong').length).toBeLessThan(10)
    expect(operator.answers.filter(({ type }) => type === 'error')).toEqual([
      expect.objectContaining({ message: expect.stringContaining('busy') }),
    ])
    busy.control(operator)
    expect(robot().controls).toBe(0)
    answersTo(operator, { note: 'stop', type: 'ping', t: 1 })
    answersTo(operator, { type: 'stop', reason: 'busy' })
    expect(robot().latched).toBe('busy')
    expect(operator.socket.closed).toBeNull()
    expect(busy.gateway.counts.framesRefused).toBeGreaterThan(10)
    clockMs += 2_000
    expect(answersTo(operator, ...pings(1))).toEqual(['pong'])
  })

  test('does not refuse the frames of another account', async () => {
    const operator = await join()
    robot().socket.receiveFrame({ type: 'telemetry', data: { speed: 1 } })
    answersTo(operator, ...pings(20))
    const { frames, framesRefused } = busy.gateway.counts
    robot().socket.receiveFrame({ type: 'telemetry', data: { speed: 1 } })
    expect(busy.gateway.counts).toMatchObject({ frames: frames + 1, framesRefused })
  })
})
