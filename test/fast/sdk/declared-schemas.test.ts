import type { ControlSchema, TelemetrySchema } from '@wheelhouse/protocol'
import { afterEach, expect, test } from 'vitest'
import { RobotLink, type RobotLinkOptions } from '../../../packages/sdk/index.ts'
import { RobotGateway, sessionId } from '../../support/gateway/scripted-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

const session = { session_id: sessionId, status: 'ACTIVE', operator_name: 'Ada' } as const
const lamp: ControlSchema = { type: 'object', properties: { lamp: { type: 'boolean' } }, required: ['lamp'] }
const battery: TelemetrySchema = {
  type: 'object',
  properties: { battery: { type: 'number', minimum: 0, maximum: 1, 'x-kind': 'battery' } },
  required: ['battery'],
}

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Connects a robot to a fake gateway and records the commands, the problems and the errors. */
async function createFixture(options: Partial<RobotLinkOptions>, declared: Record<string, unknown> = {}) {
  const gateway = await new RobotGateway().listen()
  cleanups.push(() => gateway.close())
  gateway.welcome = { session: { ...session, ...declared }, deadman_ms: 60_000 }
  const received: unknown[] = []
  const link = new RobotLink({
    url: gateway.url,
    token: 'robot-token',
    onControl: ({ data }) => received.push(data),
    onInvalidControl: (_seq, problem) => received.push(problem),
    onInvalidTelemetry: (problem) => received.push(problem),
    onSession: (next) => received.push(next?.status),
    onError: (cause) => received.push(cause),
    ...options,
  })
  cleanups.push(() => link.close())
  await link.connect()
  let seq = 0
  const control = (data: unknown) =>
    gateway.send({
      type: 'control',
      session_id: sessionId,
      seq: ++seq,
      t: performance.now(),
      ttl_ms: 60_000,
      data,
    })
  return { gateway, link, received, control }
}

test('a robot sends only the telemetry that its schema allows', async () => {
  const { gateway, link, received } = await createFixture({ telemetrySchema: battery })
  const samples = [{ battery: 0.5 }, { battery: 2 }, {}, 'full', { battery: 1, more: true }]
  expect(samples.map((sample) => link.telemetry(sample))).toEqual([true, false, false, false, true])
  await waitFor(() => expect(gateway.framesOf('telemetry')).toHaveLength(2))
  expect(gateway.framesOf('telemetry').map(({ data }) => data)).toEqual([
    { battery: 0.5 },
    { battery: 1, more: true },
  ])
  expect(received).toEqual([
    'ACTIVE',
    expect.stringMatching(/^battery: /),
    expect.stringMatching(/^battery: /),
    expect.any(String),
  ])
  const schema = { type: 'object', properties: { a: { type: 'string' } } } as never
  expect(() => new RobotLink({ url: gateway.url, token: 't', telemetrySchema: schema })).toThrow('Invalid')
})

test('a robot follows the schemas of the platform if its options say so, from the welcome and every session', async () => {
  const platform = { controlSchema: 'platform', telemetrySchema: 'platform' } as const
  const declared = { control_schema: lamp, telemetry_schema: battery }
  const { gateway, link, received, control } = await createFixture(platform, declared)
  control({ speed: 1 })
  control({ lamp: true })
  await waitFor(() => expect(received).toContainEqual({ lamp: true }))
  expect(received).toEqual(['ACTIVE', expect.stringMatching(/^lamp: /), { lamp: true }])
  expect(link.telemetry({ speed: 1 })).toBe(false)

  gateway.send({ type: 'session', ...session })
  control({ speed: 2 })
  await waitFor(() => expect(received.at(-1)).toEqual({ speed: 2 }))
  expect(link.telemetry({ speed: 2 })).toBe(true)

  // A schema of a later version is reported, and applies to nothing.
  const unknown = { type: 'object', properties: { a: { type: 'quaternion' } } }
  gateway.send({ type: 'session', ...session, control_schema: unknown, telemetry_schema: unknown })
  control({ speed: 3 })
  await waitFor(() => expect(received).toContainEqual({ speed: 3 }))
  expect(link.telemetry({ speed: 3 })).toBe(true)
  await waitFor(() => expect(received.filter((entry) => entry instanceof Error)).toHaveLength(2))
})

test('a robot without the option ignores the schemas of the platform', async () => {
  const { link, received, control } = await createFixture(
    {},
    { control_schema: lamp, telemetry_schema: battery },
  )
  control({ speed: 1 })
  await waitFor(() => expect(received.at(-1)).toEqual({ speed: 1 }))
  expect(link.telemetry({ speed: 1 })).toBe(true)
  expect(link.session).toMatchObject({ control_schema: lamp, telemetry_schema: battery })
})

test('a value moves from the measured position after a halt, and from the last command otherwise', async () => {
  const arm: ControlSchema = {
    type: 'object',
    properties: { joint: { type: 'number', 'x-max-rate': 1 } },
  }
  let measured: unknown
  const options = { controlSchema: arm, measured: () => measured, onStop: () => received.push('stop') }
  const { gateway, received, control } = await createFixture(options)
  const joint = async (target: number) => {
    const count = received.length
    control({ joint: target })
    return await waitFor(() => {
      expect(received.length).toBe(count + 1)
      return (received.at(-1) as { joint: number }).joint
    })
  }
  measured = { joint: 1 }
  expect(await joint(0)).toBeCloseTo(0.9)
  measured = { joint: 5 } // not read while the robot moves
  const moved = await joint(0)
  expect(moved).toBeLessThan(0.9)
  expect(moved).toBeGreaterThanOrEqual(0.8)
  const halt = async () => {
    gateway.send({ type: 'stop', reason: 'deadman', latched: false })
    await waitFor(() => expect(received.at(-1)).toBe('stop'))
  }
  await halt()
  expect(await joint(9)).toBeCloseTo(5.1)
  measured = undefined
  await halt()
  const held = await joint(0)
  expect(held).toBeLessThan(5.1)
  expect(held).toBeGreaterThanOrEqual(5)
})
