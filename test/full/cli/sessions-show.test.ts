import { OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { atCommandLine, sessionOpen } from '../../support/cli/cli-world.ts'
import { cli } from '../../support/cli/in-process.ts'
import { endCommands } from '../../support/cli/terminal.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ env: { OPERATOR_GRACE_MS: '200', HEARTBEAT_TIMEOUT_MS: '20000' } })
})
afterAll(async () => {
  await endCommands()
  await world[Symbol.asyncDispose]()
})

test('sessions show prints the connection of the robot and of the operator separately', async () => {
  const { owner, operator, robot, sessionId, read } = await sessionOpen(world)
  const user = await atCommandLine(world, owner)
  const shown = async (robotState: string, operatorState: string) => {
    const { stdout, stderr } = await cli(user, ['sessions', 'show', sessionId])
    expect(stdout, stderr).toMatch(new RegExp(`^Robot connection +${robotState}$`, 'm'))
    expect(stdout, stderr).toMatch(new RegExp(`^Operator connection +${operatorState}$`, 'm'))
  }
  await shown('connected', 'not connected yet')

  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl: world.baseUrl, token: operator.token, sessionId, part: 'control' }),
  })
  await link.connect()
  await waitFor(async () => expect((await read()).control.operator_joined).toBe(true))
  await shown('connected', 'connected')

  await link.close()
  await waitFor(async () => expect((await read()).pause_reason).toBe('operator_lost'))
  await shown('connected', 'lost')

  await robot.close()
  await waitFor(async () => expect((await read()).control.connected).toBe(false))
  await shown('not connected', 'lost')

  await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  const { stdout } = await cli(user, ['sessions', 'show', sessionId])
  expect(stdout).not.toMatch(/connection/)
})
