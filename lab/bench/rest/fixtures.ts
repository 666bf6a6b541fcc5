import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { generateApiKey, hashApiKey } from '../../../src/modules/identity/api-keys/api-key-format.ts'

export interface ApiUser {
  readonly id: string
  readonly apiKey: string
}

interface Pair {
  readonly operator: ApiUser
  readonly robotId: string
}

/** Fixtures of the REST measurements. */
export interface RestWorld {
  /** A client with fifty robots and the sessions of the list. */
  readonly owner: ApiUser
  /** Operators, each with an available robot; every robot has another owner. */
  readonly pairs: readonly Pair[]
}

const ROBOTS_OF_OWNER = 50
const FINISHED_OPERATORS = 20

/** Creates users, robots and completed sessions, directly in the database. */
export async function seedRest(db: Client, counts: { pairs: number; sessions: number }): Promise<RestWorld> {
  const [owner] = await users(db, 1, 'client')
  const operators = await users(db, FINISHED_OPERATORS, 'operator')
  const robots = await robotsOf(db, Array(ROBOTS_OF_OWNER).fill((owner as ApiUser).id), 'OFFLINE')
  await finishedSessions(db, owner as ApiUser, { operators, robots, count: counts.sessions })
  const owners = await users(db, counts.pairs, 'client')
  const starters = await users(db, counts.pairs, 'operator')
  const waiting = await robotsOf(
    db,
    owners.map(({ id }) => id),
    'AVAILABLE',
  )
  await db.query('vacuum analyze')
  const pairs = starters.map((operator, index) => ({ operator, robotId: waiting[index] as string }))
  return { owner: owner as ApiUser, pairs }
}

/** Creates users of one role, each with an API key: for the personal organization, or for another one. */
export async function users(
  db: Client,
  count: number,
  role: 'client' | 'operator',
  organizationId: string | null = null,
): Promise<ApiUser[]> {
  const made = Array.from({ length: count }, () => ({ id: randomUUID(), apiKey: generateApiKey() }))
  const ids = made.map(({ id }) => id)
  await db.query(
    `insert into users (id, issuer, subject, display_name, is_client, is_operator)
     select id, 'bench', id::text, $2 || ' ' || n, $2 = 'client', $2 = 'operator'
     from unnest($1::uuid[]) with ordinality as u (id, n)`,
    [ids, role],
  )
  await db.query(
    `insert into api_keys (id, user_id, organization_id, name, hash, prefix, last4, last_used_at)
     select gen_random_uuid(), id, coalesce($3::uuid, id), 'bench', hash, 'svc_live_0000', '0000', now() + interval '1 day'
     from unnest($1::uuid[], $2::text[]) as k (id, hash)`,
    [ids, made.map(({ apiKey }) => hashApiKey(apiKey)), organizationId],
  )
  return made
}

/** Creates one robot for each of these owners. */
export async function robotsOf(db: Client, ownerIds: readonly string[], status: string): Promise<string[]> {
  const ids = ownerIds.map(() => randomUUID())
  await db.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, status, tags)
     select id, owner_id, 'Robot ' || n, 'bench', id::text, $3, '{bench,rest}'
     from unnest($1::uuid[], $2::uuid[]) with ordinality as r (id, owner_id, n)`,
    [ids, ownerIds, status],
  )
  await db.query('insert into robot_presence (robot_id) select unnest($1::uuid[])', [ids])
  return ids
}

/** Creates completed sessions, one for each past minute. */
export async function finishedSessions(
  db: Client,
  owner: Pick<ApiUser, 'id'>,
  parts: { operators: readonly Pick<ApiUser, 'id'>[]; robots: readonly string[]; count: number },
): Promise<void> {
  const { operators, robots, count } = parts
  await withoutTriggers(db, () =>
    db.query(
      `insert into sessions (id, robot_id, operator_id, client_id, status, created_at, started_at, ended_at,
       end_reason, billable_minutes, client_charge_cents, operator_earnings_cents, episodes_collected, data_collected_bytes,
       rating, event_seq, recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), r.id, o.id, $5, 'COMPLETED', at, at,
       at + interval '40 seconds', 'ended', 1, 50, 35, 3, 1000000, 1 + n % 5, 2,
       r.name, r.robot_type, o.display_name, 'Owner'
     from (select n, now() - n * interval '1 minute' as at from generate_series(1, $6::int) n) as minutes
       join robots r on r.id = ($3::uuid[])[1 + n % $4] join users o on o.id = ($1::uuid[])[1 + n % $2]`,
      [operators.map(({ id }) => id), operators.length, robots, robots.length, owner.id, count],
    ),
  )
}

export async function forgetSessions(db: Client, owner: Pick<ApiUser, 'id'>): Promise<void> {
  await withoutTriggers(db, () => db.query('delete from sessions where client_id = $1', [owner.id]))
}

/** Disables triggers: the public statistics are not measured, and a million triggers would take minutes. */
export async function withoutTriggers(db: Client, work: () => Promise<unknown>): Promise<void> {
  await db.query('set session_replication_role = replica')
  await work()
  await db.query('set session_replication_role = origin')
}

/** Frees the robots of all pairs and deletes their sessions: the same for every contender. */
export async function resetStarts(db: Client, world: RestWorld): Promise<void> {
  const robotIds = world.pairs.map(({ robotId }) => robotId)
  await forgetSessionsOf(db, robotIds, 'AVAILABLE')
}

/** Deletes the sessions of these robots with all their records and notifications. */
export async function forgetSessionsOf(
  db: Client,
  robotIds: readonly string[],
  status: 'AVAILABLE' | 'OFFLINE',
): Promise<void> {
  const ofPairs = 'session_id in (select id from sessions where robot_id = any($1::uuid[]))'
  await db.query('begin')
  for (const table of ['messages', 'control_requests', 'control_intervals', 'control_participants']) {
    // Earlier versions do not have all of them.
    const { rows } = await db.query('select to_regclass($1) is not null as exists', [table])
    if (rows[0].exists) await db.query(`delete from ${table} where ${ofPairs}`, [robotIds])
  }
  await db.query(`delete from session_events where ${ofPairs}`, [robotIds])
  await db.query(`delete from recordings where ${ofPairs}`, [robotIds])
  await db.query('delete from sessions where robot_id = any($1::uuid[])', [robotIds])
  await db.query('update robots set status = $2 where id = any($1::uuid[])', [robotIds, status])
  await db.query('delete from notifications')
  await db.query('delete from outbox')
  await db.query('commit')
  await db.query('vacuum analyze sessions, session_events, messages, robots, users, notifications, outbox')
  await db.query('checkpoint')
}
