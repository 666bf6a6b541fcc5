import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlMode, RobotCategory } from '../../../src/modules/robots/robot-model.schema.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const get = async (id: string) => {
  const response = await fetch(`${world.baseUrl}/api/robots/${id}`)
  return { status: response.status, body: await response.json() }
}

test('GET /api/robots: lists every model by name without authentication', async () => {
  const response = await fetch(`${world.baseUrl}/api/robots`)
  const { models } = (await response.json()) as { models: { id: string; name: string }[] }
  const known = await world.platform.core.db.selectFrom('robot_models').selectAll().orderBy('name').execute()
  expect([response.status, models]).toEqual([200, known])
})

describe('GET /api/robots/{id}', () => {
  test('GET /api/robots/{id}: returns a supported model without authentication', async () => {
    expect(await get('franka-research-3')).toEqual({
      status: 200,
      body: {
        id: 'franka-research-3',
        name: 'Franka Research 3',
        manufacturer: 'Franka Robotics',
        robot_type: 'franka-research-3',
        category: 'arm',
        degrees_of_freedom: 7,
        control_modes: [
          'joint_position',
          'joint_velocity',
          'cartesian_pose',
          'cartesian_velocity',
          'gripper',
        ],
        notes: 'Gripper: the Franka Hand.',
      },
    })
  })

  // Axes without grippers; a mobile base adds one per direction of motion.
  test.each([
    ['so-101', 'The Robot Studio', 5],
    ['viperx-300-s', 'Trossen Robotics', 6],
    ['aloha-2', 'Trossen Robotics', 12],
    ['ur5e', 'Universal Robots', 6],
    ['xarm-6', 'UFACTORY', 6],
    ['kinova-gen3', 'Kinova', 7],
    ['lekiwi', 'SIGRobotics UIUC', 8],
    ['unitree-go2', 'Unitree Robotics', 12],
    ['unitree-g1', 'Unitree Robotics', 23],
    ['boston-dynamics-spot', 'Boston Dynamics', 12],
    ['turtlebot-4', 'Clearpath Robotics', 2],
    ['diffdrive-demo', 'Wheelhouse', 2],
  ])('%s is made by %s and has %i degrees of freedom', async (id, manufacturer, degrees) => {
    expect(await get(id)).toMatchObject({
      status: 200,
      body: { id, manufacturer, degrees_of_freedom: degrees },
    })
  })

  test('every listed model is readable and complete', async () => {
    const models = await world.platform.core.db.selectFrom('robot_models').selectAll().execute()
    expect(models.length).toBeGreaterThanOrEqual(15)
    for (const model of models) {
      const { status, body } = await get(model.id)
      expect(status).toBe(200)
      expect(body).toEqual(model)
      expect(RobotCategory.options).toContain(body.category)
      expect(body.control_modes.length).toBeGreaterThan(0)
      for (const mode of body.control_modes) expect(ControlMode.options).toContain(mode)
    }
  })

  test('returns 404 with the same body for every unsupported model', async () => {
    for (const id of ['r2-d2', 'so-100', 'x']) {
      expect(await get(id)).toEqual({ status: 404, body: { error: 'Robot model not found' } })
    }
  })

  test.each(['SO-101', 'so_101', '-so', 'so-', 'so--101', 'so%20101', 'a'.repeat(65), '%00', "x'--"])(
    '400 naming id for %s',
    async (id) => {
      expect(await get(id)).toEqual({ status: 400, body: { error: expect.stringContaining('id') } })
    },
  )

  test('the id of a registered robot is not a model', async () => {
    const robot = await world.robot(await world.client())
    expect(await get(robot.id)).toMatchObject({ status: 404 })
  })
})

test('the database rejects a model with an unknown category or control mode', async () => {
  await using sql = await connectTo(world.database.url)
  const insert = (category: string, mode: string) =>
    sql
      .query(
        `insert into robot_models (id, name, manufacturer, robot_type, category, degrees_of_freedom, control_modes)
         values ('x', 'X', 'X', 'x', $1, 1, array[$2])`,
        [category, mode],
      )
      .then(
        () => undefined,
        (cause) => cause.constraint as string,
      )
  expect(await insert('spaceship', 'gripper')).toBe('robot_models_category_check')
  expect(await insert('arm', 'telepathy')).toBe('robot_models_control_modes')
  expect(await insert('arm', 'gripper')).toBeUndefined()
})
