import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  actors,
  createSilentGateway,
  HOUR_MS,
  MINUTE_MS,
  type SilentGateway,
} from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const CLIENT = '/api/client/stats'
const OPERATOR = '/api/operator/stats'
const noSessions = { PENDING: 0, ACTIVE: 0, PAUSED: 0, COMPLETED: 0, CANCELLED: 0 }

/** Returns twelve months of a client's statistics up to `last`, with the values of `filled`. */
function monthsUpTo(last: string, filled: Record<string, object> = {}) {
  const at = new Date(`${last}-01T00:00:00Z`)
  return Array.from({ length: 12 }, (_, index) => {
    const month = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 11 + index))
      .toISOString()
      .slice(0, 7)
    return { month, sessions: 0, minutes: 0, spend_cents: 0, ...filled[month] }
  })
}

let world: World
let gateway: SilentGateway
let clockMs = 0
const setClock = (text: string) => {
  clockMs = Date.parse(`${text}Z`)
}
beforeAll(async () => {
  setClock('2026-04-10T12:00:00')
  world = await createWorld({ now: () => new Date(clockMs) })
  gateway = await createSilentGateway(world, () => clockMs)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test('GET /api/client/stats: a new client receives zeros for every status', async () => {
  const client = await world.client()
  const reply = await client.get(CLIENT)
  expect(reply.status).toBe(200)
  expect(reply.body).toEqual({
    robots_by_status: { OFFLINE: 0, AVAILABLE: 0, IN_SESSION: 0 },
    sessions_by_status: noSessions,
    minutes: 0,
    spend_this_month_cents: 0,
    spend_total_cents: 0,
    episodes_collected: 0,
    data_collected_mb: 0,
    average_rating: null,
    months: monthsUpTo('2026-04'),
  })
})

test('GET /api/operator/stats: a new operator receives zeros for every status', async () => {
  const operator = await world.operator()
  const reply = await operator.get(OPERATOR)
  expect(reply.status).toBe(200)
  expect(reply.body).toEqual({
    sessions_by_status: noSessions,
    hours: 0,
    earnings_this_month_cents: 0,
    earnings_total_cents: 0,
    available_for_payout_cents: 0,
    pending_earnings_cents: 0,
    outage_seconds_this_month: 0,
    rating_average: null,
    rating_count: 0,
  })
})

test('both participants see session totals by the UTC month of the session end', async () => {
  const { owner, operator, robotId } = await actors(world, gateway)
  const unrelatedUsers = await actors(world, gateway)
  const offline = await world.robot(owner)
  const removed = await world.robot(owner)
  await owner.delete(`/api/client/robots/${removed.id}`)
  const session = async (begin: string, minutes: number) => {
    setClock(begin)
    const id = await start(operator, robotId)
    clockMs += minutes * MINUTE_MS
    await performAction(operator, id, 'end')
    return id
  }
  const rated = await session('2026-03-20T12:00:00', 40)
  const second = await session('2026-03-31T23:30:00', 30) // ends at midnight, so it belongs to April
  await session('2026-04-02T12:00:00', 20)
  const set5 = { rating: 5, episodes_collected: 7, data_collected_bytes: 2_500_000 }
  const {
    core: { db },
  } = world.platform
  await db.updateTable('sessions').set(set5).where('id', '=', rated).execute()
  const set4 = { rating: 4, episodes_collected: 3, data_collected_bytes: 250_000 }
  await db.updateTable('sessions').set(set4).where('id', '=', second).execute()

  setClock('2026-04-10T12:00:00')
  const scheduledFor = new Date(clockMs + HOUR_MS).toISOString()
  const planned = async () =>
    (await operator.post('/api/sessions', { robotId, scheduledFor })).body.sessionId as string
  await performAction(operator, await planned(), 'cancel')
  await planned()
  const open = await start(operator, robotId)
  clockMs += 10 * MINUTE_MS
  const foreign = await start(unrelatedUsers.operator, unrelatedUsers.robotId)
  clockMs += 10 * MINUTE_MS
  await performAction(unrelatedUsers.operator, foreign, 'end')

  const sessions = { PENDING: 1, ACTIVE: 1, PAUSED: 0, COMPLETED: 3, CANCELLED: 1 }
  const asClient = {
    robots_by_status: { OFFLINE: 1, AVAILABLE: 0, IN_SESSION: 1 },
    sessions_by_status: sessions,
    minutes: 90,
    spend_this_month_cents: 2_500,
    spend_total_cents: 4_500,
    episodes_collected: 10,
    data_collected_mb: 2.75,
    average_rating: 4.5,
    months: monthsUpTo('2026-04', {
      '2026-03': { sessions: 1, minutes: 40, spend_cents: 2_000 },
      '2026-04': { sessions: 2, minutes: 50, spend_cents: 2_500 },
    }),
  }
  expect((await owner.get(CLIENT)).body).toEqual(asClient)
  const asOperator = {
    sessions_by_status: sessions,
    hours: 1.5,
    earnings_this_month_cents: 1_750,
    earnings_total_cents: 3_150,
    available_for_payout_cents: 0,
    pending_earnings_cents: 3_150,
    outage_seconds_this_month: 0,
    rating_average: 4.5,
    rating_count: 2,
  }
  expect((await operator.get(OPERATOR)).body).toEqual(asOperator)

  setClock('2026-05-01T00:00:00')
  await performAction(operator, open, 'pause')
  expect((await owner.get(CLIENT)).body).toMatchObject({
    spend_this_month_cents: 0,
    spend_total_cents: 4_500,
    sessions_by_status: { ACTIVE: 0, PAUSED: 1 },
  })
  expect((await operator.get(OPERATOR)).body).toMatchObject({
    earnings_this_month_cents: 0,
    earnings_total_cents: 3_150,
  })
  await performAction(operator, open, 'end')
  expect((await owner.get(`/api/client/robots/${offline.id}`)).body.status).toBe('OFFLINE')
})

test('an owner who operates their own robot sees both statistics, pays, and earns nothing', async () => {
  const { owner, robotId } = await actors(world, gateway)
  await owner.post('/api/auth/profile', { role: 'operator' })
  const id = await start(owner, robotId)
  clockMs += 2 * MINUTE_MS
  await performAction(owner, id, 'end')
  expect((await owner.get(CLIENT)).body).toMatchObject({ spend_total_cents: 100, minutes: 2 })
  expect((await owner.get(OPERATOR)).body).toMatchObject({
    earnings_total_cents: 0,
    available_for_payout_cents: 0,
    pending_earnings_cents: 0,
    hours: 0.03,
  })
})
