import { afterAll, beforeAll, expect, test } from 'vitest'
import { robotOnline } from '../support/cli/cli-world.ts'
import { cliProcess, createCliUser, endCommands, startCli } from '../support/cli/terminal.ts'
import { waitFor } from '../support/world/wait.ts'
import { createWorld, type World } from '../support/world/world.ts'

// Runs `wheelhouse` as a program, from the sign-in with a key to the end of a session.

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(endCommands)
afterAll(async () => await world[Symbol.asyncDispose]())

test('an operator signs in with a key, finds a robot, drives it with the keyboard, stops it and ends the session', async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  const { id, robot } = await robotOnline(world, owner, 'Ronja')
  const user = await createCliUser()
  const login = await cliProcess(
    user,
    ['login', world.baseUrl, '--api-key'],
    `${(await operator.key()).key}\n`,
  )
  expect(login.code, login.stderr).toBe(0)
  const available = await cliProcess(user, ['robots', 'available', '--json'])
  expect(available.json).toMatchObject([{ id, name: 'Ronja' }])

  const start = { ...robot.state }
  const drive = startCli(user, ['drive', id])
  const type = (keys: string) => void drive.child.stdin?.write(keys)
  await drive.expectText(/session [0-9a-f-]{36}/)
  const sessionId = /session ([0-9a-f-]{36})/.exec(drive.stdout())?.[1] as string
  await waitFor(() => {
    type('w')
    expect(robot.state.xM - start.xM).toBeGreaterThan(0.3)
  })
  await waitFor(() => {
    type('\u001b[D')
    expect(robot.state.headingRad - start.headingRad).toBeGreaterThan(0.2)
  })

  type('x')
  const read = async () => (await owner.get(`/api/sessions/${sessionId}`)).body
  await waitFor(async () => {
    expect((await read()).control.stop?.reason).toBe('stopped with the keyboard')
  })
  await waitFor(() => expect([robot.state.leftMps, robot.state.rightMps]).toEqual([0, 0]))
  type('w')
  type('c')
  await waitFor(async () => expect((await read()).control.stop).toBeNull())
  type('r')
  await waitFor(async () => expect((await read()).status).toBe('ACTIVE'))
  const haltedXM = robot.state.xM
  await waitFor(() => {
    type('s')
    expect(robot.state.xM).not.toBe(haltedXM)
  })
  type('q')
  const { code, stdout } = await drive.ended
  expect(code).toBe(0)
  expect(stdout).toMatch(/you quit\n$/)
  expect((await read()).status).toBe('COMPLETED')
  await waitFor(async () => expect((await read()).latency?.frames).toBeGreaterThan(10))

  const late = await cliProcess(user, ['sessions', 'end', sessionId, '--yes', '--json'])
  expect(late.code).toBe(5)
  expect(JSON.parse(late.stderr)).toMatchObject({ code: 'conflict' })
})
