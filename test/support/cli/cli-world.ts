import { SimulatedRobot } from '@wheelhouse/sdk'
import { expect, onTestFinished } from 'vitest'
import type { TestUser } from '../world/test-user.ts'
import type { World } from '../world/world.ts'
import { type CliUser, createCliUser } from './terminal.ts'

/** Creates a command-line user who is signed in with an API key. */
export async function atCommandLine(
  world: World,
  user: TestUser,
  env: Record<string, string> = {},
): Promise<CliUser> {
  const { key } = await user.key()
  return createCliUser({
    WHEELHOUSE_URL: world.baseUrl,
    WHEELHOUSE_HUB_URL: world.hubUrl,
    WHEELHOUSE_API_KEY: key,
    ...env,
  })
}

/** Starts a simulated robot of an owner, online until the end of the test. */
export async function robotOnline(world: World, owner: TestUser, name: string) {
  const { id, token } = await world.robot(owner, { name })
  const robot = new SimulatedRobot({ url: `${world.gatewayUrl}/robots/${id}/control`, token })
  await robot.start()
  onTestFinished(() => robot.close())
  return { id, robot }
}

/** Starts a session on a simulated robot. */
export async function sessionOpen(world: World) {
  const [owner, operator] = [await world.client(), await world.operator()]
  const { id, robot } = await robotOnline(world, owner, 'Ronja')
  const started = await operator.post('/api/sessions', { robotId: id })
  expect(started.status).toBe(201)
  const sessionId = started.body.sessionId as string
  return {
    owner,
    operator,
    robot,
    robotId: id,
    sessionId,
    end: () => owner.patch(`/api/sessions/${sessionId}`, { action: 'end' }),
    read: async () => (await owner.get(`/api/sessions/${sessionId}`)).body,
    /** Sends a chat message as the operator. */
    sendMessage: (body: string) => operator.post(`/api/sessions/${sessionId}/messages`, { body }),
  }
}

/** Parses the complete JSON Lines of the output so far. */
// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary output and assert on it
export const entriesOf = (text: string): any[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
