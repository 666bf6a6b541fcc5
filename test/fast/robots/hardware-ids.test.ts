import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'

describe('a hardware id is unique, regardless of case and surrounding blanks', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('POST /api/client/robots returns 409 when the id differs only in case or surrounding blanks', async () => {
    const [owner, other] = [await world.client(), await world.client()]
    const body = (hardware_id: string) => ({ name: 'Arm', robot_type: 'so-101', hardware_id })
    const first = await owner.post(ROBOTS, body('  Board-A1 '))
    expect(first).toMatchObject({ status: 201 })
    for (const written of ['board-a1', 'BOARD-A1', 'Board-A1', ' boarD-A1\t']) {
      for (const user of [owner, other]) {
        const again = await user.post(ROBOTS, body(written))
        expect(again, written).toMatchObject({
          status: 409,
          body: {
            error: expect.stringContaining(
              user === owner
                ? 'hardware_id: your robot "Arm" has this id'
                : 'hardware_id: cannot be registered',
            ),
          },
        })
      }
    }
    expect((await owner.get(ROBOTS)).body[0].hardware_id).toBe('Board-A1')
  })

  test('one of two concurrent registrations succeeds', async () => {
    const owner = await world.client()
    const id = randomUUID()
    const replies = await Promise.all(
      [id.toUpperCase(), id].map((hardware_id) =>
        owner.post(ROBOTS, { name: 'Arm', robot_type: 'so-101', hardware_id }),
      ),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409])
  })
})
