import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectOrm } from '../../../src/app/database/orm.ts'
import { createEmptyDatabase } from '../../support/database/empty-database.ts'
import { connectTo } from '../../support/database/sql.ts'
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

test('the migration keeps the id of the oldest robot, and reports the changes of the others', async () => {
  const database = await createEmptyDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'migration-test' })
  try {
    await orm.migrator.up({ to: '0018_outbound_events' })
    await using client = await connectTo(database.url)
    const owner = randomUUID()
    await client.query(
      `insert into users (id, issuer, subject, display_name) values ($1, 'test', $1::uuid::text, 'Test')`,
      [owner],
    )
    const robot = async (hardwareId: string, day: number, deleted = false) => {
      const id = randomUUID()
      await client.query(
        `insert into robots (id, owner_id, name, robot_type, hardware_id, created_at, deleted_at)
         values ($1, $2, 'Robot', 'testbot', $3, $4, $5)`,
        [id, owner, hardwareId, `2026-01-0${day}T00:00:00Z`, deleted ? '2026-02-01T00:00:00Z' : null],
      )
      return id
    }
    const oldest = await robot('board-1', 1)
    const second = await robot('BOARD-1', 2)
    const third = await robot('Board-1', 3)
    const removed = await robot('bOARD-1', 1, true)
    const another = await robot('board-2', 1)
    await orm.migrator.up()

    const { rows } = await client.query('select id, hardware_id from robots')
    expect(new Map(rows.map((row) => [row.id, row.hardware_id]))).toEqual(
      new Map([
        [oldest, 'board-1'],
        [second, `BOARD-1 (duplicate ${second})`],
        [third, `Board-1 (duplicate ${third})`],
        [removed, 'bOARD-1'],
        [another, 'board-2'],
      ]),
    )
    const audited = await client.query(
      `select subject_id, data from audit_log where action = 'robot.hardware_id_changed' order by data->>'before'`,
    )
    expect(audited.rows).toHaveLength(2)
    expect(audited.rows).toContainEqual({
      subject_id: second,
      data: { before: 'BOARD-1', after: `BOARD-1 (duplicate ${second})` },
    })
  } finally {
    await orm.close(true)
    await database.drop()
  }
})
