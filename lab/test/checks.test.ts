import { randomUUID } from 'node:crypto'
import type { Welcome } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database/database.ts'
import { connectTo } from '../../test/support/database/sql.ts'
import { waitFor } from '../../test/support/world/wait.ts'
import { type Environment, examine } from '../chaos/checks/index.ts'
import { createEvidence } from '../chaos/evidence.ts'
import { StopWatch } from '../chaos/workload/stop-monitor.ts'
import { createValidEnvironment, type ValidEnvironment } from './valid-environment.ts'

// The checks of the fault bench must detect violations.

let database: TestDatabase
let db: Awaited<ReturnType<typeof connectTo>>
let environment: ValidEnvironment
beforeAll(async () => {
  database = await createTestDatabase()
  db = await connectTo(database.url)
  environment = await createValidEnvironment(db)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

/** Returns the violations by check; the planted statements are rolled back. */
async function violationsAfter(
  plant: (seen: Environment) => Promise<unknown> | unknown,
): Promise<Record<string, string[]>> {
  await db.query('begin')
  try {
    const seen = environment.seen()
    await plant(seen)
    const verdicts = await examine(seen)
    return Object.fromEntries(
      verdicts.flatMap(({ name, wrong }) => (wrong.length > 0 ? [[name, [...wrong]]] : [])),
    )
  } finally {
    await db.query('rollback')
  }
}
const sql =
  (text: string, values: unknown[] = []) =>
  () =>
    db.query(text, values)

test('a valid environment has no violations', async () => {
  expect(await violationsAfter(() => {})).toEqual({})
})

/** Copies the session's row with some columns changed. */
const another = (columns: string) => () =>
  db.query(
    `insert into sessions select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), ${columns}))).*
     from sessions s where id = $1`,
    [environment.session],
  )

const chat = 'acknowledged chat messages are stored once'
const starts = 'acknowledged starts are stored once'
const logs = 'logs have no gap and no duplicate'
const views = "every observer's view equals the log"
const notificationLogs = 'every notification arrived'
const single = 'one open session at a time'
const statuses = "robots' statuses are true"
const ledger = 'the ledger is balanced and equal to the sessions'
const stops = 'acknowledged stops are recorded and obeyed'
const leftovers = 'no remnants of the faults exist'

describe('a planted violation is found:', () => {
  test('a message that is stored twice', async () => {
    const double = `insert into messages (id, session_id, seq, sender_id, sender_name, sender_role, body, created_at)
      select gen_random_uuid(), session_id, 6, sender_id, sender_name, sender_role, body, created_at from messages`
    const wrong = await violationsAfter(sql(double))
    expect(wrong[chat]).toEqual([expect.stringMatching(/is stored 2 times/)])
    expect(wrong[logs]).toEqual([expect.stringMatching(/entry 6 .*without its entry/)])
  })

  test('an acknowledged message that is missing or has another id, and an unsent message', async () => {
    expect((await violationsAfter(sql('delete from messages')))[chat]).toEqual([
      expect.stringMatching(/acknowledged and is not/),
    ])
    const renamed = await violationsAfter(sql('update messages set id = gen_random_uuid()'))
    expect(renamed[chat]).toEqual([expect.stringMatching(/was acknowledged as/)])
    const foreign = await violationsAfter(({ evidence }) => void evidence.messages.splice(0))
    expect(foreign[chat]).toEqual([expect.stringMatching(/sent by no actor/)])
  })

  test('a message with unknown outcome may be stored or not, but not twice', async () => {
    const unknown = ({ evidence }: Environment) => {
      for (const message of evidence.messages) message.answer = null
    }
    expect(await violationsAfter(unknown)).toEqual({})
    const missing = await violationsAfter(async (seen) => {
      unknown(seen)
      await db.query('delete from messages')
    })
    expect(missing[chat]).toBeUndefined()
  })

  test('an acknowledged start that is missing, and a session without a start', async () => {
    const missing = await violationsAfter(
      ({ evidence }) => void evidence.starts.push({ ...evidence.starts[0]!, sessionId: randomUUID() }),
    )
    expect(missing[starts]).toEqual([expect.stringMatching(/acknowledged and is not stored/)])
    const twice = await violationsAfter(
      another(`'status', 'CANCELLED', 'client_charge_cents', null, 'operator_earnings_cents', null`),
    )
    expect(twice[starts]).toEqual([expect.stringMatching(/1 sessions .*0 were requested/)])
  })

  test('a confirmed start that is missing, and one unknown start for two sessions', async () => {
    const kept = await violationsAfter(
      ({ evidence }) => void evidence.starts.push({ ...evidence.starts[0]!, sessionId: 'kept' }),
    )
    expect(kept[starts]).toEqual([expect.stringMatching(/1 sessions .* were confirmed and 0 are stored/)])
    const both = await violationsAfter(async ({ evidence }) => {
      evidence.starts.push({ ...evidence.starts[0]!, sessionId: null })
      for (let n = 0; n < 2; n++) await another(`'status', 'CANCELLED'`)()
    })
    expect(both[starts]).toEqual([expect.stringMatching(/2 sessions .*1 were requested/)])
  })

  test('a rating that was not stored', async () => {
    const wrong = await violationsAfter(sql('update sessions set rating = 2'))
    expect(wrong['acknowledged ratings are stored']).toEqual([expect.stringMatching(/rated 4, and has 2/)])
  })

  test.each([
    ['a gap', 'delete from session_events where seq = 3'],
    ['a missing end', 'delete from session_events where seq = 5'],
    [
      'an additional entry',
      'insert into session_events select session_id, 6, type, data, at from session_events where seq = 1',
    ],
    ['a log that begins late', 'update session_events set seq = seq + 10'],
  ])('%s in a log', async (_what, plant) => {
    const wrong = await violationsAfter(sql(plant))
    expect(wrong[logs]?.join()).toContain(`session ${environment.session} counts 5`)
  })

  test('a view with a gap, with a duplicate, out of order, or truncated', async () => {
    const corrupt = (change: (lines: string[]) => void) =>
      violationsAfter(({ evidence }) => change((evidence.views[0] as { lines: string[] }).lines))
    for (const change of [
      (lines: string[]) => void lines.splice(1, 1),
      (lines: string[]) => void lines.splice(1, 0, lines[1] as string),
      (lines: string[]) => void lines.reverse(),
      (lines: string[]) => void lines.push('6 session.ended'),
      (lines: string[]) => void lines.pop(),
    ]) {
      expect((await corrupt(change))[views]).toHaveLength(1)
    }
  })

  test('an observer that left may have only the beginning', async () => {
    const left = (cut: number) =>
      violationsAfter(({ evidence }) => {
        const view = evidence.views[0]!
        view.ended = true
        view.lines.splice(cut, 1)
      })
    expect(await left(4)).toEqual({})
    expect((await left(2))[views]).toHaveLength(1)
  })

  test('a notification that did not arrive, or is not stored', async () => {
    const undelivered = await violationsAfter(
      ({ evidence }) => void Object.assign(evidence.notificationLogs[0]!, { received: 0 }),
    )
    expect(undelivered[notificationLogs]).toEqual(['Owner received 0 of 1 notifications'])
    expect((await violationsAfter(sql('delete from notifications')))[notificationLogs]).toEqual([
      'Owner counts 1 notifications and has 0',
    ])
  })

  test('two sessions of one operator, and of one robot, at the same time', async () => {
    const overlap = `'started_at', '2026-11-20T09:01:29.999Z', 'ended_at', '2026-11-20T09:02:00Z', 'event_seq', 0`
    const wrong = await violationsAfter(another(overlap))
    expect(wrong[single]).toEqual([expect.stringMatching(/^operator/), expect.stringMatching(/^robot/)])
    const after = `'started_at', '2026-11-20T09:01:30Z', 'ended_at', '2026-11-20T09:02:00Z', 'event_seq', 0`
    expect((await violationsAfter(another(after)))[single]).toBeUndefined()
  })

  test('a session that is open while another one begins', async () => {
    const open = `'status', 'ACTIVE', 'ended_at', null, 'active_since', '2026-11-20T08:00:00Z',
      'started_at', '2026-11-20T08:00:00Z', 'plan_id', 'standard', 'event_seq', 0`
    const wrong = await violationsAfter(another(open))
    expect(wrong[single]).toHaveLength(2)
    expect(wrong[statuses]).toEqual([expect.stringMatching(/in an open session, and AVAILABLE/)])
  })

  test('a wrong status of a robot, in the database and at the hub', async () => {
    const offline = await violationsAfter(sql("update robots set status = 'OFFLINE'"))
    expect(offline[statuses]).toEqual([
      expect.stringMatching(/is connected, and OFFLINE/),
      expect.stringMatching(/sees robot .* as AVAILABLE; it is OFFLINE/),
    ])
    const missing = await violationsAfter(
      ({ robots }) => void Object.assign(robots[0]!, { connected: false }),
    )
    expect(missing[statuses]).toEqual([
      expect.stringMatching(/is switched off; presence says connected: true/),
    ])
  })

  test.each([
    [
      'an additional line',
      "insert into ledger_entries (posting_id, account, amount_cents, kind) values (gen_random_uuid(), 'provider_cash', 5, 'x')",
    ],
    ['a changed amount', "update ledger_entries set amount_cents = 101 where account = 'client_receivable'"],
    ['a session that was not posted', 'delete from ledger_entries'],
    [
      'a session that was posted twice',
      `insert into ledger_entries (posting_id, account, user_id, amount_cents, session_id, kind)
       select l.session_id, v.account, case when cents < 0 then s.operator_id end, cents, s.id, 'session_charge'
       from (values ('provider_cash', 1), ('payout_reserved', -1)) as v (account, cents), sessions s, ledger_entries l
       where l.account = 'platform_revenue'`,
    ],
    ['a charge that does not match the time', 'update sessions set active_ms = 200000'],
    [
      'money moved between users',
      "update ledger_entries set user_id = gen_random_uuid() where account = 'operator_payable'",
    ],
    ['a posting for a session that is not completed', "update sessions set status = 'CANCELLED'"],
  ])('in the ledger, %s', async (_what, plant) => {
    expect((await violationsAfter(sql(plant)))[ledger]?.length).toBeGreaterThan(0)
  })

  test('an acknowledged stop that is not in the log, or had been cleared before', async () => {
    const never = await violationsAfter(
      ({ evidence }) => void evidence.stops.push({ ...evidence.stops[0]!, sessionId: randomUUID() }),
    )
    expect(never[stops]).toEqual([expect.stringMatching(/is not in its log/)])
    const late = {
      sessionId: environment.session,
      requestedAtMs: environment.at(45).getTime(),
      reportedAtMs: environment.at(46).getTime(),
    }
    const cleared = await violationsAfter(({ evidence }) => void evidence.stops.push(late))
    expect(cleared[stops]).toHaveLength(1)
  })

  test('control over a new connection before the stop was cleared', async () => {
    const { robot: robotId, session: sessionId, at } = environment
    const driven = (second: number) =>
      violationsAfter(({ evidence }) => {
        const times = { stoppedAtMs: at(30).getTime(), drivenAtMs: at(second).getTime() }
        evidence.releases.push({ robotId, sessionId, ...times })
      })
    expect((await driven(35))[stops]).toEqual([expect.stringMatching(/before the stop was cleared/)])
    expect(await driven(45)).toEqual({})
  })

  test('an unpublished event, a robot at an unknown gateway, a session and a robot that disagree', async () => {
    const waiting = await violationsAfter(sql("insert into outbox (name, payload) values ('x', '{}')"))
    expect(waiting[leftovers]).toEqual([expect.stringMatching(/outbox row/)])
    const nowhere = await violationsAfter(sql('delete from gateway_nodes'))
    expect(nowhere[leftovers]).toEqual([expect.stringMatching(/which does not exist/)])
    const unrecordedMessage = await violationsAfter(
      sql(
        "insert into gateway_nodes (id, url, seen_at) values (gen_random_uuid(), 'ws://gone', '2026-01-01')",
      ),
    )
    expect(unrecordedMessage[leftovers]).toEqual([expect.stringMatching(/still listed/)])
    const odd = await violationsAfter(sql("update robots set status = 'IN_SESSION'"))
    expect(odd[leftovers]).toEqual([expect.stringMatching(/is COMPLETED, its robot IN_SESSION/)])
  })

  test('an open transaction', async () => {
    await using other = await connectTo(database.url)
    await other.query('begin')
    await other.query('select 1')
    const old = async () => {
      await db.query('select pg_stat_clear_snapshot()')
      return (await violationsAfter(() => {}))[leftovers]
    }
    await waitFor(async () => expect(await old()).toEqual([expect.stringMatching(/old transaction/)]))
  })

  test('violations during the run, and a check that fails itself', async () => {
    const seen = await violationsAfter(({ evidence }) => evidence.violations.add('a unicorn'))
    expect(seen).toEqual({ 'no violation was recorded during the run': ['a unicorn'] })
    const broken = await violationsAfter(
      async () => void (await db.query('alter table ledger_entries rename to gone')),
    )
    expect(broken[ledger]).toEqual([expect.stringMatching(/could not be checked/)])
  })
})

describe('the frames of a robot', () => {
  const sessionId = randomUUID()
  const session = { session_id: sessionId, status: 'ACTIVE', operator_name: 'Operator' } as const
  const times = { heartbeat_interval_ms: 1, heartbeat_timeout_ms: 1, deadman_ms: 1 }
  const welcome = (stop: Welcome['stop']): Welcome => ({
    ...times,
    robot_id: randomUUID(),
    epoch: 1,
    session,
    stop,
    type: 'welcome',
  })
  const control = { type: 'control', session_id: sessionId, seq: 1, t: 1, ttl_ms: 1, data: null } as const
  const latched = { type: 'stop', reason: 'r', latched: true } as const
  const cleared = { type: 'stop_cleared' } as const

  function observe(...frames: Parameters<StopWatch['observe']>[0][]) {
    const evidence = createEvidence()
    const watch = new StopWatch('robot', evidence)
    for (const [index, frame] of frames.entries()) watch.observe(frame, index)
    return { violations: evidence.violations.all(), releases: evidence.releases }
  }

  test('must not contain control between a latched stop and its clear', () => {
    expect(observe(welcome(null), latched, control).violations).toEqual([
      expect.stringMatching(/1 ms after a latched stop/),
    ])
    expect(observe(welcome(latched), control).violations).toHaveLength(1)
    expect(observe(welcome(null), latched, cleared, control)).toEqual({ violations: [], releases: [] })
    expect(observe(welcome(null), { ...latched, latched: false }, control).violations).toEqual([])
  })

  test('release a stop with the welcome of a new connection and later control', () => {
    expect(observe(welcome(latched), welcome(null)).releases).toEqual([])
    const { violations, releases } = observe(welcome(latched), welcome(null), control, control)
    expect(violations).toEqual([])
    expect(releases).toEqual([{ robotId: 'robot', sessionId, stoppedAtMs: 0, drivenAtMs: 2 }])
    expect(observe(welcome(latched), welcome(null), latched, control).violations).toHaveLength(1)
  })

  test('are checked per session', () => {
    const next = { ...session, session_id: randomUUID(), type: 'session' } as const
    const driven = { ...control, session_id: next.session_id }
    expect(observe(welcome(latched), next, driven)).toEqual({ violations: [], releases: [] })
  })
})
