import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from './support/person.ts'
import { type CliUser, CTRL_C, cli, createCliUser, ENTER, openTerminal } from './support/terminal.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
let owner: Person
let user: CliUser
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  const { key } = await owner.key()
  user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: key })
})
afterAll(async () => await world[Symbol.asyncDispose]())

describe('wheelhouse', () => {
  test('lists robots', async () => {
    await world.robot(owner, { name: 'Arm' })
    const { code, json } = await cli(user, ['robots', 'list', '--json'])
    expect({ code, json }).toMatchObject({ code: 0, json: [{ name: 'Arm', status: 'OFFLINE' }] })
  })
  test('terminal', async () => {
    const t = openTerminal(user, ['robots', 'list'], { columns: 60, rows: 10 })
    expect((await t.ended).code).toBe(0)
    console.log(JSON.stringify(t.written()), CTRL_C, ENTER)
  })
})
