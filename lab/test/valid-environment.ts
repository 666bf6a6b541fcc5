import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { Environment } from '../chaos/checks/index.ts'
import { createEvidence, lineOf } from '../chaos/evidence.ts'

const ids = () => ({ owner: randomUUID(), operator: randomUUID(), robot: randomUUID(), node: randomUUID() })

/**
 * Creates a small environment in which every invariant of the fault bench holds: one completed session with a chat message in
 * its log, billed; one connected robot; one notification. In the database, and as evidence.
 */
export async function createValidEnvironment(db: Client) {
  const { owner, operator, robot, node } = ids()
  const [session, message, posting] = [randomUUID(), randomUUID(), randomUUID()]
  const startMs = Date.parse('2026-11-20T09:00:00Z')
  const at = (second: number) => new Date(startMs + second * 1_000)
  await db.query('set session_replication_role = replica') // so that a test can insert rows that constraints reject
  await db.query(
    `insert into users (id, issuer, subject, display_name, notification_seq)
     values ($1, 'test', 'owner', 'Owner', 1), ($2, 'test', 'operator', 'Operator', 0)`,
    [owner, operator],
  )
  await db.query(
    "insert into notifications (user_id, seq, type, data) values ($1, 1, 'session.started', '{}')",
    [owner],
  )
  await db.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, status) values ($1, $2, 'R', 't', 'h', 'AVAILABLE')`,
    [robot, owner],
  )
  // The file may take longer than a gateway may be silent.
  await db.query(
    "insert into gateway_nodes (id, url, seen_at) values ($1, 'ws://localhost', now() + interval '1 hour')",
    [node],
  )
  await db.query('insert into robot_presence (robot_id, connected, node_id) values ($1, true, $2)', [
    robot,
    node,
  ])
  await db.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, active_ms,
       client_rate_cents_per_minute, operator_share_percent, billable_minutes, client_charge_cents,
       operator_earnings_cents, event_seq, rating, recorded_robot_name, recorded_robot_type, recorded_operator_name,
       recorded_client_name)
     values ($1, $2, $3, $4, 'COMPLETED', $5, $6, 90000, 50, 70, 2, 100, 70, 5, 4, 'R', 't', 'Operator', 'Owner')`,
    [session, robot, operator, owner, at(0), at(90)],
  )
  const log = [
    { seq: 1, type: 'session.started', data: { status: 'ACTIVE' } },
    { seq: 2, type: 'chat.message', data: { message_id: message } },
    { seq: 3, type: 'session.stopped', data: { status: 'PAUSED' } },
    { seq: 4, type: 'session.stop_cleared', data: { status: 'PAUSED' } },
    { seq: 5, type: 'session.ended', data: { status: 'COMPLETED' } },
  ]
  for (const { seq, type, data } of log)
    await db.query(
      'insert into session_events (session_id, seq, type, data, at) values ($1, $2, $3, $4, $5)',
      [session, seq, type, data, at(seq * 10)],
    )
  await db.query(
    `insert into messages (id, session_id, seq, sender_id, sender_name, sender_role, body, created_at)
     values ($1, $2, 2, $3, 'Operator', 'operator', 'words', now())`,
    [message, session, operator],
  )
  const lines = [
    ['client_receivable', owner, 100],
    ['operator_payable', operator, -70],
    ['platform_revenue', null, -30],
  ]
  for (const [account, userId, cents] of lines)
    await db.query(
      `insert into ledger_entries (posting_id, account, user_id, amount_cents, session_id, kind)
       values ($1, $2, $3, $4, $5, 'session_charge')`,
      [posting, account, userId, cents, session],
    )

  /** Returns fresh evidence, so that a test can change it. */
  const seen = (): Environment => {
    const evidence = createEvidence()
    evidence.messages.push({
      sessionId: session,
      senderId: operator,
      body: 'words',
      answer: { id: message, seq: 2 },
    })
    evidence.starts.push({ operatorId: operator, robotId: robot, sessionId: session })
    evidence.ratings.push({ sessionId: session, rating: 4 })
    evidence.stops.push({
      sessionId: session,
      requestedAtMs: at(29).getTime(),
      reportedAtMs: at(31).getTime(),
    })
    const view = log.map((entry) =>
      lineOf({ ...entry, at: at(entry.seq * 10).toISOString(), data: { ...entry.data, id: message } }),
    )
    evidence.views.push({ who: 'Owner', sessionId: session, lines: view, ended: false })
    evidence.notificationLogs.push({ who: 'Owner', userId: owner, received: 1 })
    return {
      db,
      evidence,
      robots: [{ id: robot, connected: true }],
      boards: [{ who: 'Owner', robots: new Map([[robot, 'AVAILABLE']]) }],
    }
  }
  return { seen, at, owner, operator, robot, session, message, posting }
}
export type ValidEnvironment = Awaited<ReturnType<typeof createValidEnvironment>>
