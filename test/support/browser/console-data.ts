import { connectTo } from '../database/sql.ts'
import { startReceiver } from '../network/webhook-receiver.ts'
import { storeEpisode } from '../world/episodes.ts'
import { addMember, teamRobot } from '../world/organizations.ts'
import { performAction, start, tolerateLatency } from '../world/session-fixtures.ts'
import type { TestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import type { World } from '../world/world.ts'
import { connectRobot } from './cockpit.ts'

/** Names as long as real ones become. The second robot has one that no browser breaks at a space. */
const NAMES = {
  owner: 'Bartholomäus Winterfeldt-Großkreuz',
  tradeName: 'Norddeutsche Lagerlogistik- und Fördertechnikgesellschaft mbH',
  operator: 'Wilhelmina Featherstonehaugh-Cholmondeley',
  driven: 'Picking robot of the northern assembly hall, line 12',
  ready: 'Lagerhallenbodenreinigungsroboter-Nordrhein-0000012',
  offline: 'Arm',
  type: 'mobile-manipulator-xl',
  team: 'Hafenlogistik- und Umschlagsgesellschaft Norddeutschland mbH',
  program: 'Terminal operating system of the eastern quay',
  teamRobot: 'Container crane of the eastern quay, berth 7',
} as const

/** Sends a request without credentials, as the forms of the front page do. */
async function postPublic(world: World, path: string, body: unknown): Promise<void> {
  const response = await fetch(world.baseUrl + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
}

/** Sends a request that must succeed; returns its answer. */
async function sent(user: TestUser, method: string, path: string, body?: unknown) {
  const reply = await user.request(method, path, body)
  if (reply.status >= 400)
    throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

async function createUsers(world: World) {
  const [owner, operator, admin] = [await world.client(), await world.operator(), await world.admin()]
  await sent(owner, 'POST', '/api/auth/profile', { display_name: NAMES.owner })
  await sent(owner, 'PATCH', '/api/client/profile', {
    company_name: NAMES.tradeName,
    contact_email: 'bartholomaeus.winterfeldt-grosskreuz@lagerlogistik.example',
  })
  await sent(operator, 'POST', '/api/auth/profile', { display_name: NAMES.operator })
  await sent(operator, 'POST', '/api/operator/profile', { headline: 'Steady hands', timezone: 'UTC' })
  await sent(operator, 'POST', '/api/operator/schedule', {
    timezone: 'Europe/Berlin',
    slots: [1, 2, 3].map((weekday) => ({ weekday, start: '08:00', end: '17:30' })),
  })
  for (const robot_type of [NAMES.type, 'crane']) {
    const { id } = await sent(operator, 'POST', '/api/operator/certifications', { robot_type })
    if (robot_type === NAMES.type) await sent(admin, 'POST', `/api/admin/certifications/${id}/approve`)
  }
  return { owner, operator, admin }
}

/** Issues an invoice for a session. Triggers would reject it, because the month has not ended. */
async function createInvoice(world: World, owner: TestUser, sessionId: string): Promise<string> {
  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  const { rows } = await database.query(
    `insert into invoices (id, client_id, month, status, currency, total_cents, session_count, minutes, issued_at, billing_name)
     values (gen_random_uuid(), $1, '2026-01', 'OPEN', 'EUR', 1234567, 1, 24691, now(), $2) returning id`,
    [owner.id, NAMES.tradeName],
  )
  await database.query('update sessions set invoice_id = $1 where id = $2', [rows[0].id, sessionId])
  return rows[0].id
}

/**
 * Creates a team of the owner, with the operator as a member, a group that has a robot, an open invitation, a service account with keys,
 * one of them unused for long, and a grant of data.
 */
async function createTeam(world: World, owner: TestUser, operator: TestUser) {
  const { id } = await sent(owner, 'POST', '/api/organizations', { name: NAMES.team })
  const group = 'Containerterminal Altenwerder, Ostkai'
  const invited = 'bartholomaeus@lagerlogistik.example'
  const acting = await owner.actingFor(id)
  const path = `/api/organizations/${id}`
  const { id: group_id } = await sent(acting, 'POST', `${path}/groups`, { name: group })
  await addMember(world, id, operator, 'operator', [group_id])
  await sent(acting, 'POST', `${path}/invitations`, { email: invited, role: 'supervisor' })
  const robot = await teamRobot(acting, { name: NAMES.teamRobot, group_id })
  const account = await sent(acting, 'POST', `${path}/service-accounts`, { name: NAMES.program })
  const keys = `${path}/service-accounts/${account.id}/keys`
  for (const name of ['Rotterdam', 'Antwerpen'])
    await sent(acting, 'POST', keys, { name, scopes: ['read', 'sessions', 'drive'], expiresInDays: 90 })
  await using database = await connectTo(world.database.url)
  await database.query(
    "update api_keys set created_at = now() - interval '112 days' where name = 'Rotterdam'",
  )
  await sent(acting, 'POST', `${path}/grants`, {
    robot_id: robot.id,
    to_organization_id: operator.id,
    scopes: ['recordings', 'datasets', 'log', 'health'],
  })
  return { id: id as string, group, invited, robotId: robot.id, accountId: account.id as string }
}

async function createSessions(
  users: { owner: TestUser; operator: TestUser },
  robotId: string,
  other: string,
) {
  const { owner, operator } = users
  const ended = await start(operator, robotId)
  await sent(owner, 'POST', `/api/sessions/${ended}/messages`, {
    body: 'Mind the shelf on the right. '.repeat(4),
  })
  await performAction(owner, ended, 'emergency_stop', 'A person stepped into the aisle of the northern hall')
  await performAction(owner, ended, 'end')
  await sent(owner, 'POST', `/api/sessions/${ended}/rate`, {
    rating: 4,
    comment: 'Careful and quick. '.repeat(6),
  })
  const scheduledFor = new Date(Date.now() + 86_400_000).toISOString()
  const planned = (await sent(operator, 'POST', '/api/sessions', { robotId: other, scheduledFor })).sessionId
  const open = await start(operator, robotId)
  return { ended, planned: planned as string, open }
}

export type ConsoleData = Awaited<ReturnType<typeof createConsoleData>>

/**
 * Creates data for every page of the console: three robots, sessions in all states, an invoice, a webhook, exports, requests and
 * messages. The world needs `WEBHOOK_ALLOW_LOOPBACK`.
 */
export async function createConsoleData(world: World) {
  const users = await createUsers(world)
  const { owner, operator } = users
  const fields = { robot_type: NAMES.type, tags: ['hamburg-north', 'night-shift', 'certified-2026'] }
  const driven = await world.robot(owner, { name: NAMES.driven, ...fields })
  const ready = await world.robot(owner, { name: NAMES.ready, ...fields })
  const offline = await world.robot(owner, { name: NAMES.offline })
  await sent(owner, 'PATCH', `/api/client/robots/${offline.id}`, { on_hold: true })
  for (const { id } of [driven, ready]) await tolerateLatency(world, id)
  const robot = await connectRobot(world, driven)
  const link = (await world.connect(ready)).beat()
  await storeEpisode(link)
  await waitFor(async () => {
    const { robots } = await sent(operator, 'GET', '/api/operator/available-robots')
    if (robots.length < 2) throw new Error('The robots are not available yet.')
  })
  const sessions = await createSessions(users, driven.id, ready.id)
  const team = await createTeam(world, owner, operator)
  const receiver = await startReceiver()
  const webhook = await sent(owner, 'POST', '/api/webhooks', {
    url: `${receiver.url}/hooks/of/the/warehouse/management/system`,
    description: 'Warehouse management system of the northern halls',
  })
  for (const user of [owner, operator]) {
    await user.key()
    await sent(user, 'POST', '/api/session-exports', { format: 'csv' })
  }
  await postPublic(world, '/api/contact', {
    name: NAMES.owner,
    email: 'bartholomaeus@lagerlogistik.example',
    category: 'Bug Report',
    subject: 'A question about the cameras of the northern hall',
    message: 'It\nholds on.',
  })
  await postPublic(world, '/api/robot-request', { email: 'ada@example.com', robot_type: NAMES.type })
  const { datasets } = await sent(owner, 'GET', '/api/client/datasets')
  return {
    ...users,
    newcomer: await world.newUser(),
    names: NAMES,
    robots: { driven: driven.id, ready: ready.id, offline: offline.id, team: team.robotId },
    team,
    sessions,
    webhookId: webhook.id as string,
    datasetId: datasets[0].id as string,
    invoiceId: await createInvoice(world, owner, sessions.ended),
    async [Symbol.asyncDispose]() {
      await performAction(operator, sessions.open, 'end')
      await robot.close()
      await world.drained()
      await receiver[Symbol.asyncDispose]()
    },
  }
}
