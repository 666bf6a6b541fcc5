import type { Client } from 'pg'
import { type ApiUser, forgetSessionsOf, robotsOf, users } from '../rest/fixtures.ts'
import { eventOf, type SessionEventRecord } from './packets.ts'

/** Entries in the log of every session: its start, and messages. */
export const LOG_ENTRIES = 20
const EVENTS_PER_STATEMENT = 5_000

/** An open session with its owner and its operator. */
export interface Room {
  readonly sessionId: string
  readonly owner: ApiUser
  readonly operator: ApiUser
}

export interface HubScenario {
  readonly rooms: readonly Room[]
  /** Deletes the sessions with all their records. */
  cleanUp(): Promise<void>
}

/** Creates sessions directly in the database, each with its own users, robot and log. */
export async function seedHub(db: Client, count: number): Promise<HubScenario> {
  const owners = await users(db, count, 'client')
  const operators = await users(db, count, 'operator')
  const robotIds = await robotsOf(
    db,
    owners.map(({ id }) => id),
    'OFFLINE',
  )
  const { rows } = await db.query<{ id: string; position: number }>(
    `with groups as (
       select *, gen_random_uuid() as id
       from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as c (robot_id, operator_id, client_id, position)
     ), taken as (
       update robots set status = 'IN_SESSION' where id = any($1::uuid[])
     ), made as (
       insert into sessions (id, robot_id, operator_id, client_id, status, started_at, active_since, driven, plan_id,
         client_rate_cents_per_minute, operator_share_percent, event_seq)
       select id, robot_id, operator_id, client_id, 'ACTIVE', now(), now(), true, 'bench', 50, 70, $4 from groups
     )
     select id, position::int from groups order by position`,
    [robotIds, operators.map(({ id }) => id), owners.map(({ id }) => id), LOG_ENTRIES],
  )
  const sessionIds = rows.map(({ id }) => id)
  await writeLogs(db, sessionIds)
  await db.query('vacuum analyze')
  await db.query('checkpoint')
  const rooms = sessionIds.map((sessionId, index) => {
    return { sessionId, owner: owners[index] as ApiUser, operator: operators[index] as ApiUser }
  })
  return { rooms, cleanUp: () => forgetSessionsOf(db, robotIds, 'OFFLINE') }
}

async function writeLogs(db: Client, sessionIds: readonly string[]): Promise<void> {
  const { body } = eventOf('', 1).data
  await db.query(
    `insert into messages (id, session_id, seq, sender_id, sender_name, sender_role, body)
     select gen_random_uuid(), s.id, seq, operator_id, 'operator', 'operator', $3
     from sessions s, generate_series(2, $2::int) seq where s.id = any($1::uuid[])`,
    [sessionIds, LOG_ENTRIES, body],
  )
  await db.query(
    `insert into session_events (session_id, seq, type, data)
     select id, 1, 'session.started', jsonb_build_object('status', 'ACTIVE', 'actor_id', operator_id)
     from sessions where id = any($1::uuid[])
     union all
     select session_id, seq, 'chat.message', jsonb_build_object('message_id', id)
     from messages where session_id = any($1::uuid[])`,
    [sessionIds],
  )
}

/** Returns numbers `from` to `to` of every room, number by number, in the order of publication. */
export function eventsOf(rooms: readonly Room[], from: number, to: number): SessionEventRecord[] {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  return numbers.flatMap((seq) => rooms.map(({ sessionId }) => eventOf(sessionId, seq)))
}

/** Inserts events into the outbox in one transaction. */
export async function recordEvents(db: Client, events: readonly SessionEventRecord[]): Promise<void> {
  await db.query('begin')
  for (let start = 0; start < events.length; start += EVENTS_PER_STATEMENT) {
    await db.query(
      `insert into outbox (name, payload)
       select 'session.event', event from jsonb_array_elements($1::jsonb) with ordinality as e (event, position)
       order by position`,
      [JSON.stringify(events.slice(start, start + EVENTS_PER_STATEMENT))],
    )
  }
  await db.query('commit')
}
