import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { RunningPlatform } from '../../../src/roles/start-roles.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Breaks the connections to Redis in the ways that leave commands and subscriptions without a reply. */
const faults: Record<string, (redis: TcpProxy) => Promise<unknown> | unknown> = {
  'is cut': (redis) => redis.cut(),
  'is silent': (redis) => redis.silence(),
  'is cut while it is silent': async (redis) => {
    redis.silence()
    await nextTurn()
    redis.cut()
  },
  'is back, and subscriptions are being renewed': async (redis) => {
    redis.cut()
    redis.restore()
    await delay(60) // the first reconnect is due after 50 ms, so some rounds close before it and some after it
  },
}

/** Sends messages through all connections: of the bus, and between hubs. */
async function sendMessages({ bus }: RunningPlatform['platform']['core'], hub: TestHubSocket): Promise<void> {
  for (let index = 0; index < 50; index++) {
    bus.publish('robots.changed', { robotIds: [String(index)] })
    bus.publish('credential.revoked', { apiKeyId: String(index) })
    hub.socket.emit('watch', { session_id: String(index) })
  }
  await nextTurn()
}

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis' })
})
afterAll(async () => await world[Symbol.asyncDispose]())

test.each(Object.entries(faults))(
  'a process that ends while Redis %s, with commands in flight, leaves no rejection unhandled',
  async (_, fail) => {
    const rejected = vi.fn()
    process.on('unhandledRejection', rejected)
    onTestFinished(() => void process.off('unhandledRejection', rejected))
    const user = await world.client()
    for (let round = 0; round < 6; round++) {
      await using redis = await createTcpProxy(serviceUrl('redisUrl'))
      const node = await world.addNode('api,hub,gateway,worker', { REDIS_URL: redis.url })
      const hub = await user.hub({ url: node.hubUrl })
      await sendMessages(node.platform.core, hub)
      for (let turn = 0; turn < round; turn++) await nextTurn()
      await fail(redis)
      await sendMessages(node.platform.core, hub)
      hub.close()
      await node.stop()
    }
    await nextTurn() // Node reports unhandled rejections once all promises have settled
    expect(rejected).not.toHaveBeenCalled()
  },
)
