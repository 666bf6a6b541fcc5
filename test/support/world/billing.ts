import { expect } from 'vitest'
import { createPresenceStore } from '../../../src/modules/presence/presence.store.ts'
import type { World } from './world.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/**
 * Creates a gateway without sockets: robots connect and disconnect on request of the test, at times of the test's clock. It
 * sends heartbeats, so that the worker does not remove it, until the test silences it.
 */
export async function createSilentGateway(world: World, nowMs: () => number) {
  const store = createPresenceStore({ databaseUrl: world.database.url, poolSize: 2 })
  const nodeId = crypto.randomUUID()
  const renew = () => store.renewNode(nodeId, 'ws://nowhere')
  await renew()
  let timer: NodeJS.Timeout | undefined = setInterval(() => void renew().catch(() => {}), 500)
  const epochs = new Map<string, number>()
  const stopSending = () => {
    clearInterval(timer)
    timer = undefined
  }

  return {
    nodeId,
    fallSilent: stopSending,

    async connect(robotId: string): Promise<void> {
      const [connected] = await store.connect(nodeId, [{ robotId, tokenVersion: 1, atMs: nowMs() }])
      expect(connected, 'the robot is admitted').toBeDefined()
      epochs.set(robotId, connected!.epoch)
      await world.platform.sessions.presence.handleRobotReturned(robotId)
    },

    /** Ends the robot's connection in the database without a notification of its session. */
    async disconnect(robotId: string, lastSignMs: number) {
      const { lostInSession } = await store.disconnect([
        { robotId, epoch: epochs.get(robotId)!, lastSignMs, lastHeartbeatMs: 0 },
      ])
      return lostInSession
    },

    /** Ends it as a gateway does, with an immediate notification of the session. */
    async lose(robotId: string, lastSignMs: number): Promise<void> {
      for (const lost of await this.disconnect(robotId, lastSignMs)) {
        await world.platform.sessions.presence.handleRobotLost(lost.robotId, lost.lastSign)
      }
    },

    async [Symbol.asyncDispose]() {
      stopSending()
      for (const robotId of epochs.keys()) await this.disconnect(robotId, nowMs())
      await store.removeNode(nodeId)
      await store.close()
    },
  }
}
export type SilentGateway = Awaited<ReturnType<typeof createSilentGateway>>

/** Creates an owner, an operator and a robot that is online. */
export async function actors(world: World, gateway: SilentGateway) {
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  await gateway.connect(robot.id)
  return { owner, operator, robotId: robot.id }
}
