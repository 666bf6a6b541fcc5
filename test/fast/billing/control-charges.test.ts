import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInvoicing, type Invoicing } from '../../support/stripe/invoice-fixture.ts'
import { auditIntervals } from '../../support/stripe/money-audit.ts'
import { MINUTE_MS } from '../../support/world/billing.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'

let invoicing: Invoicing
let admin: TestUser
beforeAll(async () => {
  invoicing = await createInvoicing()
  admin = await invoicing.world.admin()
})
afterAll(() => invoicing[Symbol.asyncDispose]())

const release = () => invoicing.world.platform.billing.earningsRelease.runDue()
const minutes = (count: number) => invoicing.later(count * MINUTE_MS)
const assign = async (clientId: string, plan: string) =>
  expect((await admin.post(`/api/admin/clients/${clientId}/plan`, { plan })).status).toBe(200)

/** Changes who controls the robot, which must succeed. */
async function act(user: TestUser, sessionId: string, action: string, rest: object = {}) {
  const reply = await user.post(`/api/sessions/${sessionId}/control`, { action, ...rest })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}
async function handOver(from: TestUser, to: TestUser, sessionId: string) {
  const { requests } = await act(from, sessionId, 'offer', { to: to.id })
  await act(to, sessionId, 'accept', { requestId: requests.at(-1).id })
}
const linesOf = async (sessionId: string) =>
  (
    await invoicing.world.platform.core.db
      .selectFrom('ledger_entries')
      .select(['account', 'user_id', 'amount_cents', 'posting_id'])
      .where('session_id', '=', sessionId)
      .orderBy('id')
      .execute()
  ).map(({ account, user_id, amount_cents }) => [account, user_id, amount_cents])
const chargedOf = async (sessionId: string) =>
  (await admin.get(`/api/admin/audit?subject_id=${sessionId}`)).body.entries.find(
    ({ action }: { action: string }) => action === 'session.charged',
  ).data
const moneyOf = async (user: TestUser) => {
  const stats = (await user.get('/api/operator/stats')).body
  const { availableCents, pendingEarningsCents, nextAvailableAt } = (await user.get('/api/payments/payout'))
    .body
  expect([stats.available_for_payout_cents, stats.pending_earnings_cents]).toEqual([
    availableCents,
    pendingEarningsCents,
  ])
  return {
    available: availableCents,
    pending: pendingEarningsCents,
    total: stats.earnings_total_cents,
    isDated: nextAvailableAt !== null,
  }
}
const viewOf = async (user: TestUser, id: string) => (await user.get(`/api/sessions/${id}`)).body

test('a session costs what operators drove, and each of them earns the own part, until the owner has paid', async () => {
  await using client = await invoicing.nextClient()
  const { owner, operator } = client
  const guest = await invoicing.world.operator()
  const startedAt = invoicing.now().getTime()
  const id = await start(operator, client.users.robotId)
  minutes(4.5)
  await handOver(operator, guest, id)
  minutes(3)
  expect(await viewOf(guest, id)).toMatchObject({ operator_earnings_cents: null, operator_share_percent: 70 })
  await act(owner, id, 'take_over')
  minutes(30)
  await act(owner, id, 'return') // to the guest
  minutes(1)
  await performAction(operator, id, 'end')

  // 4.5 and 4 minutes are 9 started ones. The last interval has the remainder.
  expect(await viewOf(owner, id)).toMatchObject({ client_charge_cents: 450, episodes_collected: 0 })
  expect(await viewOf(operator, id)).toMatchObject({ client_charge_cents: 450, operator_earnings_cents: 157 })
  const asGuest = { client_charge_cents: 450, operator_earnings_cents: 157 }
  expect(await viewOf(guest, id)).toMatchObject({
    ...asGuest,
    operator_share_percent: 70,
    earnings_pending_until: expect.any(String),
  })
  for (const query of ['', '?status=COMPLETED', '?sort=created_at'])
    expect((await guest.get(`/api/sessions${query}`)).body.sessions).toMatchObject([{ id, ...asGuest }])
  expect((await guest.get('/api/session-counts')).body.by_status).toMatchObject({ COMPLETED: 1 })
  expect((await guest.post('/api/sessions/export', { format: 'json' })).body.sessions).toMatchObject([
    { id, ...asGuest },
  ])
  expect((await operator.get('/api/sessions')).body.sessions).toMatchObject([
    { id, operator_earnings_cents: 157 },
  ])
  expect(await linesOf(id)).toEqual([
    ['client_receivable', owner.id, 450],
    ['operator_pending', operator.id, -157],
    ['operator_pending', guest.id, -157],
    ['platform_revenue', null, -136],
  ])
  expect(await chargedOf(id)).toMatchObject({
    billable_minutes: 9,
    client_charge_cents: 450,
    operator_earnings_cents: 314,
    intervals: [
      { epoch: 1, user_id: operator.id, kind: 'operator', client_charge_cents: 225 },
      { epoch: 2, user_id: guest.id, kind: 'operator', driven_ms: 3 * MINUTE_MS, client_charge_cents: 150 },
      { epoch: 3, user_id: owner.id, kind: 'owner', driven_ms: 30 * MINUTE_MS, client_charge_cents: 0 },
      { epoch: 4, user_id: guest.id, rate_cents_per_minute: 50, share_percent: 70, client_charge_cents: 75 },
    ],
  })
  for (const user of [operator, guest])
    expect(await moneyOf(user)).toEqual({ available: 0, pending: 157, total: 157, isDated: true })
  expect((await guest.get('/api/operator/overview')).body.week).toContainEqual(
    expect.objectContaining({ earnings_cents: 157, driven_seconds: 240 }),
  )
  await auditIntervals(invoicing.world.platform.core.db)

  await client.drive(1)
  await invoicing.closeMonth()
  const [invoice] = await client.list()
  const [line, plain] = (await owner.get(`/api/client/invoices/${invoice.id}`)).body.lines
  const at = (count: number) => new Date(startedAt + count * MINUTE_MS).toISOString()
  expect(line).toMatchObject({ minutes: 9, amount_cents: 450 })
  expect(line.driven).toMatchObject([
    {
      kind: 'operator',
      from: at(0),
      to: at(4.5),
      seconds: 270,
      rate_cents_per_minute: 50,
      amount_cents: 225,
    },
    { kind: 'operator', from: at(4.5), to: at(7.5), seconds: 180, amount_cents: 150 },
    { kind: 'owner', from: at(7.5), to: at(37.5), seconds: 1_800, rate_cents_per_minute: 0, amount_cents: 0 },
    { kind: 'operator', from: at(37.5), to: at(38.5), seconds: 60, amount_cents: 75 },
  ])
  expect(plain).not.toHaveProperty('driven')

  await invoicing.run()
  const stripeInvoice = client.stripeInvoice()
  expect(stripeInvoice.lines.map(({ amount }) => amount)).toEqual([450, 50])
  invoicing.invoices.pay(stripeInvoice.id)
  await Promise.all([invoicing.sendEvent('invoice.paid', stripeInvoice.id), release(), release()])
  expect(await moneyOf(operator)).toEqual({ available: 192, pending: 0, total: 192, isDated: false })
  expect(await moneyOf(guest)).toEqual({ available: 157, pending: 0, total: 157, isDated: false })
  await auditIntervals(invoicing.world.platform.core.db)
})

test('own members cost nothing; operators of the marketplace who help have the plan of when they began', async () => {
  const { world } = invoicing
  invoicing.nextMonth()
  const founder = await world.client()
  const teamId = await createTeam(founder)
  const owner = await founder.actingFor(teamId)
  const member = async (role: 'operator' | 'supervisor') => {
    const user = await world.newUser()
    await addMember(world, teamId, user, role)
    return await user.actingFor(teamId)
  }
  const [driver, supervisor] = [await member('operator'), await member('supervisor')]
  const [first, second] = [await world.operator(), await world.operator()]
  const robot = await teamRobot(owner)
  await invoicing.gateway.connect(robot.id)

  const free = await start(driver, robot.id)
  minutes(10)
  await act(supervisor, free, 'take_over')
  minutes(5)
  const accounts = `/api/organizations/${teamId}/service-accounts`
  const policy = (await owner.post(accounts, { name: 'Policy', role: 'operator' })).body
  const { key } = (
    await owner.post(`${accounts}/${policy.id}/keys`, { scopes: ['read', 'drive'], expiresInDays: 30 })
  ).body
  // Keys expire by the real clock, which is years ahead of that of the test.
  await sql`update api_keys set expires_at = now() + interval '1 day' where user_id = ${policy.id}`.execute(
    world.platform.core.db,
  )
  const { requests } = await act(supervisor, free, 'offer', { to: policy.id })
  const accept = { action: 'accept', requestId: requests[0].id }
  const accepted = await founder.request('POST', `/api/sessions/${free}/control`, accept, key)
  expect(accepted).toMatchObject({ status: 200, body: { holder: { kind: 'policy', user_id: policy.id } } })
  minutes(60)
  await performAction(driver, free, 'end')
  expect(await viewOf(owner, free)).toMatchObject({ client_charge_cents: 0, own_operator: true })
  expect(await linesOf(free)).toEqual([])
  expect(await chargedOf(free)).toMatchObject({
    billable_minutes: 75,
    intervals: [
      { driven_ms: 10 * MINUTE_MS, client_charge_cents: 0 },
      { kind: 'supervisor', driven_ms: 5 * MINUTE_MS, client_charge_cents: 0 },
      { kind: 'policy', driven_ms: 60 * MINUTE_MS, client_charge_cents: 0 },
    ],
  })

  await invoicing.gateway.connect(robot.id)
  const id = await start(driver, robot.id)
  minutes(20)
  await handOver(driver, first, id)
  minutes(2)
  await act(first, id, 'return')
  minutes(1)
  await assign(teamId, 'fleet')
  await handOver(driver, second, id)
  await act(second, id, 'return')
  await handOver(driver, first, id)
  minutes(3)
  await performAction(owner, id, 'end')
  expect(await viewOf(owner, id)).toMatchObject({ client_charge_cents: 220, own_operator: true })
  expect(await viewOf(first, id)).toMatchObject({ operator_earnings_cents: 160, operator_share_percent: 75 })
  expect(await viewOf(second, id)).toMatchObject({ operator_earnings_cents: 0 })
  expect(await linesOf(id)).toEqual([
    ['client_receivable', teamId, 220],
    ['operator_pending', first.id, -160],
    ['platform_revenue', null, -60],
  ])
  expect(await moneyOf(first)).toEqual({ available: 0, pending: 160, total: 160, isDated: true })
  expect(await moneyOf(second)).toEqual({ available: 0, pending: 0, total: 0, isDated: false })

  // After the end nobody holds control: the guest is free for another session, whose price was fixed at its start.
  await invoicing.gateway.connect(robot.id)
  const marketplace = await start(second, robot.id)
  await assign(teamId, 'standard')
  minutes(2)
  await handOver(second, first, marketplace)
  minutes(1)
  await performAction(owner, marketplace, 'end')
  expect(await viewOf(first, marketplace)).toMatchObject({
    client_charge_cents: 120,
    operator_earnings_cents: 30,
  })

  invoicing.later(45 * 24 * 60 * MINUTE_MS)
  await Promise.all([release(), release()])
  expect(await moneyOf(first)).toEqual({ available: 190, pending: 0, total: 190, isDated: false })
  await auditIntervals(world.platform.core.db)
  const { db } = world.platform.core
  await expect(
    sql`update control_intervals set client_charge_cents = 1 where session_id = ${id}`.execute(db),
  ).rejects.toThrow('control_intervals is append-only')
})

test('an owner who operates the own robot pays for it also after control came back', async () => {
  await using client = await invoicing.nextClient()
  const { owner } = client
  await owner.post('/api/auth/profile', { role: 'operator' })
  const guest = await invoicing.world.operator()
  const id = await start(owner, client.users.robotId)
  minutes(1)
  await handOver(owner, guest, id)
  minutes(1)
  await act(owner, id, 'take_over')
  minutes(3)
  await performAction(owner, id, 'end')
  expect(await viewOf(owner, id)).toMatchObject({ client_charge_cents: 250 })
  expect(await viewOf(guest, id)).toMatchObject({ operator_earnings_cents: 35 })
})
