import { afterEach, describe, expect, test } from 'vitest'
import { OperatorLink, type OperatorLinkOptions } from '../../../packages/sdk/index.ts'
import { DriverGateway } from '../../support/gateway/scripted-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function connect(options: Partial<OperatorLinkOptions> = {}) {
  const gateway = await new DriverGateway().listen()
  cleanups.push(() => gateway.close())
  const getTicket = async () => ({ url: gateway.url(), ticket: 't' })
  const link = new OperatorLink({
    getTicket,
    reconnect: { baseMs: 2, maxMs: 10 },
    PeerConnection: null,
    ...options,
  })
  cleanups.push(() => link.close())
  await link.connect()
  return { gateway, link }
}

describe('the age of the picture', () => {
  test('is in every command, rounded and bounded, before the data', async () => {
    const ages = [33.4, 0, null, -5, 1e12, Number.NaN]
    const left = [...ages]
    const { gateway, link } = await connect({ videoAgeMs: () => left.shift() ?? null })
    for (const _ of ages) link.control({ linear_mps: 1 }, { urgent: true })
    await waitFor(() => expect(gateway.framesOf('control')).toHaveLength(ages.length))
    const reported = gateway.framesOf('control').map(({ video_age_ms }) => video_age_ms)
    expect(reported).toEqual([33, 0, null, 0, 3_600_000, null])
    const names = Object.keys(gateway.framesOf('control')[0] ?? {})
    expect(names).toEqual(['type', 'seq', 't', 'video_age_ms', 'data'])
  })

  test('comes with the pictures that are shown, by the clock of the platform once that is known', async () => {
    const atMs = performance.timeOrigin + performance.now()
    const { gateway, link } = await connect({ seenPictures: () => ({ front: atMs, wrist: atMs - 50 }) })
    link.control({}, { urgent: true })
    await waitFor(() => expect(link.latency).not.toBeNull())
    link.control({}, { urgent: true })
    await waitFor(() => expect(gateway.framesOf('control')).toHaveLength(2))
    const [before, after] = gateway.framesOf('control')
    expect(before).not.toHaveProperty('seen')
    const { front = 0, wrist = 0 } = (after?.seen ?? {}) as Record<string, number>
    expect(front - atMs).toBeCloseTo(link.latency?.clockOffsetMs ?? 0, -1)
    expect(front - atMs, 'the gateway is five seconds ahead').toBeGreaterThan(4_000)
    expect(front - wrist).toBe(50)
  })

  test('is not reported without the option', async () => {
    const { gateway, link } = await connect()
    link.control({})
    link.controlBinary(new Uint8Array(1))
    await waitFor(() => expect(gateway.binaries).toHaveLength(1))
    expect(gateway.framesOf('control')[0]).not.toHaveProperty('video_age_ms')
    expect(gateway.framesOf('video_age')).toEqual([])
  })

  test('goes beside binary commands, ten times in a second at most, and at once over a new connection', async () => {
    const { gateway, link } = await connect({ videoAgeMs: () => 40 })
    const send = () => expect(link.controlBinary(new Uint8Array(1), { urgent: true })).not.toBeNull()
    const began = performance.now()
    for (let count = 0; count < 20; count++) send()
    await waitFor(() => expect(gateway.binaries).toHaveLength(20))
    const reports = gateway.framesOf('video_age')
    expect(reports[0]).toEqual({ type: 'video_age', video_age_ms: 40 })
    expect(reports.length).toBeLessThanOrEqual(1 + (performance.now() - began) / 100)
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.upgrades).toBe(2))
    await waitFor(() => expect(link.connection).toBe('online'))
    const before = gateway.framesOf('video_age').length
    send()
    await waitFor(() => expect(gateway.framesOf('video_age')).toHaveLength(before + 1))
  })

  test('that cannot be read is an error, and sends no command', async () => {
    const errors: unknown[] = []
    const { gateway, link } = await connect({
      onError: (cause) => errors.push(cause),
      videoAgeMs: () => {
        throw new Error('no camera')
      },
    })
    expect(link.control({})).toBeNull()
    expect(errors).toEqual([expect.objectContaining({ message: 'no camera' })])
    expect(gateway.framesOf('control')).toEqual([])
  })
})

test('a silent connection shows in the time since the last frame, which pings keep short', async () => {
  const { gateway, link } = await connect({ pingMs: 20 })
  await waitFor(() => expect(gateway.framesOf('ping').length).toBeGreaterThan(5))
  await waitFor(() => expect(link.silentMs).toBeLessThan(200))
  gateway.pongs = false
  await waitFor(() => expect(link.silentMs).toBeGreaterThan(200))
  expect(link.connection).toBe('online')
  gateway.pongs = true
  await waitFor(() => expect(link.silentMs).toBeLessThan(200))
})
