import { afterAll, beforeAll, expect, test } from 'vitest'
import { HubClient } from '../../packages/sdk/index.ts'
import { startGatewayProcess } from '../support/processes/gateway-process.ts'
import type { Wheelhouse } from '../support/processes/processes.ts'
import { performAction, start, tolerateLatency } from '../support/world/session-fixtures.ts'
import type { TestUser } from '../support/world/test-user.ts'
import { waitFor } from '../support/world/wait.ts'
import { createWorld, type World } from '../support/world/world.ts'

// Runs hub and gateway in this process with all other roles, and once more in a second process.

/** A robot has time to reconnect on a busy machine. */
const graces = { OPERATOR_GRACE_MS: '600000', ROBOT_GRACE_MS: '600000' }

let world: World
let node: Wheelhouse
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: graces })
  node = startGatewayProcess(world, {
    ROLES: 'hub,gateway',
    HUB_PORT: '0',
    HEARTBEAT_INTERVAL_MS: '200',
    HEARTBEAT_TIMEOUT_MS: '30000',
    ...graces,
  })
})
afterAll(async () => {
  await node?.[Symbol.asyncDispose]()
  // As the sweep does half a minute after a gateway was killed.
  await world.platform.core.db.deleteFrom('gateway_nodes').where('url', '!=', world.gatewayUrl).execute()
  await world[Symbol.asyncDispose]()
})

/** Joins the chat of a session at a hub. */
async function chatAt(url: string, user: TestUser, sessionId: string) {
  const received: unknown[] = []
  const client = new HubClient({ url, token: user.token })
  await client.connect()
  await client.watch(sessionId, {
    onEvent: ({ type, data }) => {
      if (type === 'chat.message') received.push(data.body)
    },
  })
  return { received, say: (text: string) => client.sendChat(sessionId, text), close: () => client.close() }
}

test('users of two hubs chat, and a stop outlives the gateway that is killed under it', async () => {
  const { hubUrl, gatewayUrl } = await node.serving()
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  await tolerateLatency(world, robot.id)
  const link = (await world.connect(robot, gatewayUrl)).beat()
  const id = await start(operator, robot.id)

  const chats = [await chatAt(world.hubUrl, owner, id), await chatAt(hubUrl, operator, id)] as const
  await chats[0].say('Mind the vase')
  await chats[1].say('I do')
  for (const { received } of chats) await waitFor(() => expect(received).toEqual(['Mind the vase', 'I do']))
  for (const { close } of chats) close()

  // The ticket of the first node leads to the gateway of the robot.
  const console = await world.drive(operator, id)
  await console.state(({ status }) => status === 'ACTIVE')
  console.control()
  await link.next('control')
  console.send({ type: 'stop', reason: 'smoke' })
  await console.state(({ stop }) => stop?.recorded)
  await node.end('SIGKILL')
  expect([await link.closed, await console.closed]).toEqual([1006, 1006])

  const back = (await world.connect(robot)).beat()
  expect((await back.next('stop')).reason).toBe('smoke') // repeated, because no frame reported that it has halted
  const again = await world.drive(operator, id)
  expect((await again.state()).stop).toEqual({
    reason: 'smoke',
    latched: true,
    recorded: true,
    by_role: 'operator',
    clearable_by: 'anyone',
  })
  const seq = again.control()
  expect(await again.next('dropped')).toMatchObject({ seq, why: 'stopped' })
  await performAction(operator, id, 'clear_stop')
  await back.next('stop_cleared')
  await performAction(operator, id, 'resume')
  await again.state(({ status }) => status === 'ACTIVE')
  again.control()
  await back.next('control')
})
