import { afterAll, beforeAll, expect, test } from 'vitest'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let owner: TestUser
let operator: TestUser
beforeAll(async () => {
  world = await createWorld()
  ;[owner, operator] = [await world.client(), await world.operator()]
})
afterAll(() => world[Symbol.asyncDispose]())

const preFlight = (id: string, user = operator) => user.get(`/api/operator/robots/${id}`)

test('shows an operator the robot before a session: state, notes, price, limits and commands', async () => {
  const robot = await world.robot(owner, {
    name: 'Ready',
    robot_type: 'diffdrive-demo',
    stream_url: 'https://cam.example.com/1',
    require_certification: false,
  })
  const notes = 'Keep away\nfrom the shelf'
  const changed = await owner.patch(`/api/client/robots/${robot.id}`, {
    operator_notes: notes,
    notes: 'Private',
  })
  expect(changed.body).toMatchObject({ operator_notes: notes, notes: 'Private' })
  expect((await preFlight(robot.id)).body).toMatchObject({
    status: 'OFFLINE',
    gateway_url: null,
    battery: null,
  })

  const link = await world.connect(robot)
  link.send({ type: 'heartbeat', seq: 1, battery: 0.62 })
  await waitFor(async () => expect((await preFlight(robot.id)).body).toMatchObject({ battery: 0.62 }))
  const { status, body } = await preFlight(robot.id)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id: robot.id,
    name: 'Ready',
    status: 'AVAILABLE',
    model: { robot_type: 'diffdrive-demo' },
    certification: { required: false, status: null },
    may_drive: true,
    on_hold: false,
    operator_notes: notes,
    has_camera: true,
    gateway_url: world.gatewayUrl,
    earnings_cents_per_minute: 35,
    owner_name: owner.name,
    owner_rating_average: null,
    owner_rating_count: 0,
    latency_limit_ms: 400,
  })
  expect(body.control_schema).toMatchObject({ type: 'object' })
  // Addresses, the hardware id and the private notes are for the owner.
  const text = JSON.stringify(body)
  for (const secret of ['cam.example.com', 'Private', 'hardware_id']) expect(text).not.toContain(secret)
})

test('hides notes, battery and gateway from operators who may not drive, and follows certifications', async () => {
  const [admin, newcomer] = [await world.admin(), await world.operator()]
  const robot = await world.robot(owner, { robot_type: 'guarded', require_certification: true })
  await owner.patch(`/api/client/robots/${robot.id}`, { operator_notes: 'The key is below the mat' })
  await world.connect(robot)
  const hidden = { may_drive: false, operator_notes: null, battery: null, gateway_url: null }
  const shown = async () => (await preFlight(robot.id, newcomer)).body
  expect(await shown()).toMatchObject({ ...hidden, certification: { required: true, status: null } })

  const { id } = (await newcomer.post('/api/operator/certifications', { robot_type: 'guarded' })).body
  expect(await shown()).toMatchObject({ ...hidden, certification: { status: 'PENDING' } })
  await admin.post(`/api/admin/certifications/${id}/approve`)
  expect(await shown()).toMatchObject({
    may_drive: true,
    operator_notes: 'The key is below the mat',
    gateway_url: world.gatewayUrl,
    certification: { status: 'APPROVED' },
  })
  await admin.post(`/api/admin/certifications/${id}/revoke`, { reason: 'Expired' })
  expect(await shown()).toMatchObject({ ...hidden, certification: { status: 'REVOKED' } })
})

test('includes the ratings that the owner gave, and is not found for removed robots', async () => {
  const strict = await world.client()
  const robot = await world.robot(strict, { require_certification: false })
  ;(await world.connect(robot)).beat()
  await waitFor(async () => expect((await preFlight(robot.id)).body.status).toBe('AVAILABLE'))
  const sessionId = await start(operator, robot.id)
  await performAction(operator, sessionId, 'end')
  expect((await strict.post(`/api/sessions/${sessionId}/rate`, { rating: 3 })).status).toBe(200)
  expect((await preFlight(robot.id)).body).toMatchObject({ owner_rating_average: 3, owner_rating_count: 1 })

  expect((await strict.delete(`/api/client/robots/${robot.id}`)).status).toBe(204)
  expect((await preFlight(robot.id)).status).toBe(404)
})

test('rejects notes that are too long', async () => {
  const robot = await world.robot(owner)
  const change = (operator_notes: string | null) =>
    owner.patch(`/api/client/robots/${robot.id}`, { operator_notes })
  expect((await change('x'.repeat(2_000))).status).toBe(200)
  expect((await change('x'.repeat(2_001))).status).toBe(400)
  expect((await change(null)).body.operator_notes).toBeNull()
})
