import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Metrics } from '../../../src/core/metrics/metrics.ts'
import { measureGateway } from '../../../src/core/metrics/role-metrics.ts'
import { channelProcesses, closeTestChannels, openChannel } from '../../support/gateway/test-channel.ts'
import { startGatewayProcess } from '../../support/processes/gateway-process.ts'
import { evaluateIn, inspectable } from '../../support/processes/thread-inspector.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: { HEARTBEAT_TIMEOUT_MS: '3500' } })
})
afterAll(async () => {
  // The sweep has found the gateway that ended without a shutdown.
  await waitFor(async () => {
    const nodes = await world.platform.core.db.selectFrom('gateway_nodes').select('id').execute()
    expect(nodes).toHaveLength(1)
  })
  await world[Symbol.asyncDispose]()
})

/** Returns the metrics of a gateway as Prometheus reads them. */
const metricsOf = async (gatewayUrl: string) =>
  await (await fetch(`${gatewayUrl.replace('ws', 'http')}/metrics`)).text()

/** Starts a gateway in a separate process, with a connected robot. */
async function startGateway(env: Record<string, string> = {}) {
  const gateway = startGatewayProcess(world, {
    ...inspectable,
    // Longer than the tests take: their robots send no heartbeats.
    HEARTBEAT_TIMEOUT_MS: '600000',
    ...env,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const { gatewayUrl } = await gateway.serving()
  return {
    gateway,
    gatewayUrl,
    link: await world.connect(await world.robot(await world.client()), gatewayUrl),
  }
}

test('an uncaught exception in the thread ends the process in order, with exit code 1', async () => {
  const { gateway, link } = await startGateway()
  await evaluateIn(gateway, 'gateway', 'setTimeout(() => { throw new Error("injected") })')
  expect(await link.closed).toBe(4503) // the robot reconnects elsewhere
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(gateway.output()).toContain('injected')
})

test('an unhandled rejection in the thread is logged and counted, and the process continues', async () => {
  const { gateway, gatewayUrl, link } = await startGateway()
  await evaluateIn(gateway, 'gateway', 'void Promise.reject(new Error("injected"))')
  await gateway.line((text) => text.includes('unhandled rejection') && text.includes('injected'))
  await waitFor(async () =>
    expect(await metricsOf(gatewayUrl)).toContain('wheelhouse_process_unhandled_rejections_total 1'),
  )
  link.send({ type: 'heartbeat', seq: 7 })
  expect((await link.next('heartbeat_ack')).seq).toBe(7)
  await link.close()
  expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null })
})

test('a gateway without traffic reports 0 for every counter, and counts what arrives', async () => {
  const { gateway, gatewayUrl, link } = await startGateway()
  const names: string[] = []
  const metrics = { gauge() {}, counter: (name: string) => void names.push(name) } as unknown as Metrics
  measureGateway(metrics, {} as Parameters<typeof measureGateway>[1])
  expect(names).toContain('wheelhouse_control_limited_total')
  const lines = (await metricsOf(gatewayUrl)).split('\n')
  // prom-client renders a count that is undefined as 1.
  for (const name of names) expect(lines).toContain(`${name} 0`)
  link.send({ type: 'heartbeat', seq: 1 })
  await waitFor(async () => expect(await metricsOf(gatewayUrl)).toContain('wheelhouse_heartbeats_total 1\n'))
  await link.close()
  expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null })
})

test.each([
  ['SIGTERM', { code: 0, signal: null }],
  ['SIGKILL', { code: null, signal: 'SIGKILL' }],
] as const)('the thread opens data channels, whose process ends with it: %s', async (signal, ended) => {
  const { gateway, link } = await startGateway()
  await openChannel(link)
  onTestFinished(closeTestChannels)
  const [pid] = channelProcesses(gateway.pid)
  expect(await gateway.end(signal)).toEqual(ended)
  await waitFor(() => expect(() => process.kill(pid as number, 0)).toThrow('ESRCH'))
  await link.closed
})

test('the second signal ends a process with open sockets at once, without a core dump', async () => {
  const { gateway } = await startGateway()
  process.kill(gateway.pid, 'SIGTERM')
  await gateway.line((text) => text.includes('"stopping"'))
  const { code, signal } = await gateway.end('SIGTERM')
  expect(signal).toBeNull()
  expect([0, 1]).toContain(code) // 0 when the first one was faster
})

/** Linux's number of the scheduling policy SCHED_RR. */
const ROUND_ROBIN = 2
/** Returns the scheduling policies of a process's threads. Ordinary threads have the policy 0. */
const policiesOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const [, fields = ''] = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(/\) (?=\w )/)
    return Number(fields.split(' ')[38]) // field 41 of proc(5); the first two are before the split
  })

function isRealTimePermitted(): boolean {
  try {
    execFileSync('chrt', ['--rr', '1', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('with GATEWAY_REALTIME the thread, and nothing else, has real-time scheduling, where it is permitted', async () => {
  const { gateway, link } = await startGateway({ GATEWAY_REALTIME: 'true' })
  link.send({ type: 'heartbeat', seq: 1 })
  await link.next('heartbeat_ack')
  await openChannel(link)
  onTestFinished(closeTestChannels)
  const channels = channelProcesses(gateway.pid)
  expect(channels).toHaveLength(1)
  const realTime = isRealTimePermitted() ? [ROUND_ROBIN] : []
  expect(policiesOf(gateway.pid).filter((policy) => policy !== 0)).toEqual(realTime)
  expect(channels.flatMap(policiesOf).filter((policy) => policy !== 0)).toEqual([])
  await link.close()
  expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null })
})

test('a gateway without the permission for real-time scheduling says so and works', async () => {
  const { gateway, link } = await startGateway({ GATEWAY_REALTIME: 'true', PATH: '/nowhere' })
  await gateway.line((text) => text.includes('no real-time scheduling'))
  expect(policiesOf(gateway.pid)).not.toContain(ROUND_ROBIN)
  link.send({ type: 'heartbeat', seq: 1 })
  await link.next('heartbeat_ack')
  await link.close()
  expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null })
})
