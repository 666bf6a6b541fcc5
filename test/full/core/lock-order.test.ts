import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { releaseEarnings } from '../../../src/modules/billing/earnings.service.ts'
import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { post } from '../../../src/modules/billing/ledger.ts'
import { createDigests } from '../../../src/modules/notifications/digest.service.ts'
import { createOutboundRetention } from '../../../src/modules/webhooks/retention.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createSilentGateway } from '../../support/world/billing.ts'
import { attemptOf } from '../../support/world/jobs.ts'
import { start } from '../../support/world/session-fixtures.ts'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld } from '../../support/world/world.ts'

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const STORM_MS = 6_000
const MINUTE_MS = 60_000
const MONTH_MS = 31 * 24 * 3_600_000

// Every transaction acquires its locks in one order: robot_presence, robots, datasets, invoices, sessions, users; event_streams, webhooks, webhook_deliveries, users.
test('all locking operations, concurrently and repeatedly: none deadlocks and none fails', async () => {
  await using world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true', DATABASE_POOL_SIZE: '20' } })
  await using gateway = await createSilentGateway(world, Date.now)
  const {
    core: { db, transact, log },
    datasets: { episodeStore },
  } = world.platform
  const admin = await world.admin()
  // Two owners who also operate the robots of each other, so that the same users are on both sides.
  const [ada, bob] = [await world.client(), await world.client()] as [TestUser, TestUser]
  for (const user of [ada, bob]) await user.post('/api/auth/profile', { role: 'operator' })
  const robots: { id: string; owner: TestUser; operator: TestUser; past: string[] }[] = []
  for (const [owner, operator] of [
    [ada, bob],
    [bob, ada],
  ] as const) {
    const { id } = await world.robot(owner)
    await gateway.connect(id)
    robots.push({ id, owner, operator, past: [] })
  }
  // Sessions of the previous month are to be invoiced and rated, and their recordings arrive late.
  const lastMonth = new Date(Date.now() - MONTH_MS)
  for (const robot of robots) {
    for (const minute of times(40)) {
      const at = new Date(lastMonth.getTime() - minute * 120_000)
      const row = await db
        .insertInto('sessions')
        .values({
          id: crypto.randomUUID(),
          robot_id: robot.id,
          operator_id: robot.operator.id,
          client_id: robot.owner.id,
          status: 'COMPLETED',
          started_at: at,
          billable_minutes: 1,
          ended_at: new Date(at.getTime() + 60_000),
          client_charge_cents: 50,
          operator_earnings_cents: 35,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      robot.past.push(row.id)
    }
  }

  const untilMs = Date.now() + STORM_MS
  const replies: Reply[] = []
  const storm = (work: (round: number) => Promise<unknown>) =>
    (async () => {
      for (let round = 0; Date.now() < untilMs; round++) await work(round)
    })()
  const ask = async (reply: Promise<Reply>) => void replies.push(await reply)
  const storms: Promise<unknown>[] = []
  for (const { id, owner, operator, past } of robots) {
    let session = await start(operator, id)
    const path = () => `/api/sessions/${session}`
    storms.push(
      storm(async (round) => {
        await ask(operator.patch(path(), { action: ['pause', 'resume', 'resume'][round % 3] }))
        if (round % 8 !== 7) return
        await ask(operator.patch(path(), { action: 'end' }))
        session = await start(operator, id).catch(() => session) // the robot may be offline briefly
      }),
      storm((round) => ask(owner.patch(path(), { action: round % 2 ? 'clear_stop' : 'emergency_stop' }))),
      storm(() => ask(owner.post(`${path()}/extend`, { additionalMinutes: 5 }))),
      storm((round) =>
        ask(operator.patch(path(), { action: round % 2 ? 'approve_extension' : 'decline_extension' })),
      ),
      storm((round) => ask(operator.post(`${path()}/messages`, { body: `m${round}` }))),
      storm(async (round) => {
        const path = `/api/notifications/${round % 2 ? 'read' : '1/read'}`
        const reply = await operator.post(path, { up_to: '999999999' })
        if (reply.status !== 404) replies.push(reply) // at first no resource exists to read
      }),
      storm((round) => ask(owner.post(`/api/sessions/${past[round % past.length]}/rate`, { rating: 4 }))),
      storm(async () => {
        await gateway.lose(id, Date.now())
        await gateway.connect(id)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }),
      storm((round) =>
        ask(admin.post(`/api/admin/clients/${owner.id}/plan`, { plan: round % 2 ? 'fleet' : null })),
      ),
    )
  }
  const episodes = (round: number) =>
    robots.flatMap(({ id }, index) =>
      times(30).map((n) => {
        const startedAtMs = lastMonth.getTime() - ((round + n + index) % 40) * 120_000 + 1_000
        return {
          robotId: id,
          episodeId: `${crypto.randomUUID()}`,
          startedAtMs,
          endedAtMs: startedAtMs + 1,
          sizeBytes: 1,
          success: null,
          uri: null,
          task: null,
        }
      }),
    )
  storms.push(
    storm((round) => episodeStore.save(episodes(round))),
    storm((round) => episodeStore.save(episodes(-1 - round).reverse())),
    storm(async (round) => {
      // The same months are closed repeatedly. The reset between the closes follows the lock order too.
      const clientId = (robots[round % 2] as (typeof robots)[0]).owner.id
      await db.transaction().execute(async (trx) => {
        await sql`set local session_replication_role = replica`.execute(trx) // otherwise issued invoices are immutable
        await sql`select from invoices where client_id = ${clientId} order by id for update`.execute(trx)
        await sql`with locked as (select id from sessions where client_id = ${clientId} and invoice_id is not null
            order by id for no key update)
          update sessions set invoice_id = null from locked where sessions.id = locked.id`.execute(trx)
        await trx.deleteFrom('invoices').where('client_id', '=', clientId).execute()
      })
      await createMonthlyClose({ db, transact, now: () => new Date(), log }).run()
    }),
  )
  // Earnings become pending and available repeatedly: those of paid invoices and those whose holding period is over.
  const block = (robot: (typeof robots)[0], round: number) =>
    transact(async (tx) => {
      const held = await tx.db
        .updateTable('sessions')
        .set({ earnings_held_until: new Date() })
        .where('id', '=', robot.past[round % robot.past.length] as string)
        .where('earnings_held_until', 'is', null)
        .executeTakeFirst()
      if (held.numUpdatedRows === 0n) return
      const lines = [
        { account: 'operator_pending' as const, userId: robot.operator.id, amountCents: -35 },
        { account: 'platform_revenue' as const, amountCents: 35 },
      ]
      await post(tx, { kind: 'test_earnings', at: new Date(), lines })
    })
  const pay = (clientId: string) =>
    transact(async (tx) => {
      const ofClient = tx.db.selectFrom('invoices').selectAll().where('client_id', '=', clientId)
      const invoice = await ofClient.limit(1).forUpdate().executeTakeFirst()
      if (!invoice) return
      await releaseEarnings(tx, invoice, new Date())
      await tx.notify(new Date(), [{ userId: clientId, type: 'invoice.paid', data: {} }])
    })
  storms.push(
    ...robots.map((robot) => storm((round) => block(robot, round))),
    ...robots.map(({ owner }) => storm(() => pay(owner.id))),
    storm(world.platform.billing.earningsRelease.runDue),
  )
  // Their webhooks point to a closed port: events are added, attempts fail, pending deliveries are abandoned and replayed.
  for (const user of [ada, bob]) {
    const { body } = await user.post('/api/webhooks', { url: 'http://127.0.0.1:9/' })
    const path = `/api/webhooks/${body.id}`
    storms.push(
      storm((round) => ask(user.patch(path, { enabled: round % 5 !== 4 }))),
      storm(() => ask(user.post(`${path}/replay`, { since: '2020-01-01T00:00:00Z' }))),
    )
  }
  const kept = { eventsPerUser: 5, deliveriesPerWebhook: 5, waitingPerWebhook: 5 }
  const retention = createOutboundRetention({ db, now: () => new Date(), limits: kept })
  storms.push(storm(retention.removeOld), storm(retention.removeSurplus))
  // The digest worker processes notifications as due while other requests add more.
  const digests = createDigests({ transact, now: () => new Date(Date.now() + MINUTE_MS) })
  const decide = () => Promise.all([ada, bob].map(({ id }) => digests.decide(attemptOf({ userId: id }))))
  storms.push(storm(decide), storm(decide))
  await Promise.all(storms)

  const unexpected = replies.filter(({ status }) => ![200, 201, 202, 409].includes(status))
  expect(unexpected.map(({ status, body }) => [status, body])).toEqual([])
  await using database = await connectTo(world.database.url)
  const { rows } = await database.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  expect(rows).toEqual([{ deadlocks: 0 }])
  for (const { owner, id } of robots) {
    const open = await db
      .selectFrom('sessions')
      .select('id')
      .where('robot_id', '=', id)
      .where('status', 'in', ['ACTIVE', 'PAUSED'])
      .executeTakeFirst()
    if (open) await owner.patch(`/api/sessions/${open.id}`, { action: 'end' })
  }
})
