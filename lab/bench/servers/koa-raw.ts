import { createHash, randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { Client, Pool, type PoolClient, types } from 'pg'
import { serveRest } from './rest-peer.ts'

// The limit for REST: Koa, its router, its body parser, and handwritten statements, the same that Wheelhouse sends for
// the request. Without validation, authorization and error bodies.

const GATEWAY_URL = 'ws://localhost:3002'
const INT8 = 20

types.setTypeParser(INT8, Number)

/** Prepares every statement with parameters once per connection, as Wheelhouse does for its hot requests. */
class PreparingClient extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: all of the driver's overloads pass through
  override query(...[text, values, ...more]: any[]): any {
    const name = createHash('md5').update(String(text)).digest('hex')
    const args = Array.isArray(values) ? [{ name, text, values }, ...more] : [text, values, ...more]
    return (super.query as (...args: unknown[]) => unknown)(...args)
  }
}

const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  max: 10,
  Client: process.env.PREPARED === 'true' ? PreparingClient : Client,
})

const userByKey = `
  select k.id as key_id, k.last_used_at, k.revoked_at, k.expires_at, u.id as user_id, u.display_name, u.email,
    u.email_verified, u.is_client, u.is_operator, k.expires_at <= now() as expired
  from api_keys k inner join users u on u.id = k.user_id where k.hash = $1`

async function caller(http: Context): Promise<{ user_id: string; display_name: string }> {
  const key = http.get('Authorization').slice('Bearer '.length)
  const hash = createHash('sha256').update(key).digest('hex')
  const { rows } = await pool.query(userByKey, [hash])
  if (!rows[0]) http.throw(401)
  return rows[0]
}

async function inTransaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (cause) {
    await client.query('rollback')
    throw cause
  } finally {
    client.release()
  }
}

const sessionsOfClient = `
  select coalesce(s.recorded_robot_name, r.name) as robot_name, coalesce(s.recorded_robot_type, r.robot_type) as robot_type,
    coalesce(s.recorded_operator_name, o.display_name) as operator_name, s.id, s.status, s.started_at, s.ended_at,
    s.client_charge_cents, s.operator_earnings_cents, s.rating, s.episodes_collected, s.data_collected_bytes,
    s.created_at, s.robot_id, s.operator_id, s.client_id
  from sessions s inner join robots r on r.id = s.robot_id inner join users o on o.id = s.operator_id
  where s.client_id = $1 order by s.created_at desc, s.id desc limit $2 offset $3`

async function listSessions(http: Context): Promise<void> {
  const { user_id: userId } = await caller(http)
  const { rows } = await pool.query(sessionsOfClient, [userId, Number(http.query.limit ?? 50), 0])
  http.body = {
    sessions: rows.map((row) => ({
      id: row.id,
      status: row.status,
      started_at: row.started_at,
      ended_at: row.ended_at,
      duration_minutes: Math.ceil((row.ended_at - row.started_at) / 60_000),
      client_charge_cents: row.client_charge_cents,
      rating: row.rating,
      created_at: row.created_at,
      robot_id: row.robot_id,
      robot_name: row.robot_name,
      robot_type: row.robot_type,
      operator_name: row.operator_name,
      episodes_collected: row.episodes_collected,
      data_collected_mb: row.data_collected_bytes / 1_000_000,
    })),
  }
}

const robotsOfOwner = `
  select r.*, p.last_online, p.last_heartbeat
  from robots r inner join robot_presence p on p.robot_id = r.id
  where r.deleted_at is null and r.owner_id = $1 order by r.created_at desc, r.id desc limit 50`

async function listRobots(http: Context): Promise<void> {
  const { user_id: userId } = await caller(http)
  const { rows } = await pool.query(robotsOfOwner, [userId])
  http.body = rows.map((row) => ({
    id: row.id,
    name: row.name,
    robot_type: row.robot_type,
    status: row.status,
    control_url: `${GATEWAY_URL}/robots/${row.id}/control`,
    stream_url: row.stream_url,
    hardware_id: row.hardware_id,
    last_online: row.last_online,
    last_heartbeat: row.last_heartbeat,
    total_hours: Math.round((row.session_seconds / 3_600) * 1_000) / 1_000,
    tags: row.tags,
    notes: row.notes,
    created_at: row.created_at,
  }))
}

interface EmittedState {
  readonly name: string
  readonly payload: object
}

/** Writes the rows of every change: the log, the client's notification, events for the hub. */
async function record(
  client: PoolClient,
  entry: { id: string; seq: number; type: string; data: object; at: Date },
) {
  const values = [entry.id, entry.seq, entry.type, entry.data, entry.at]
  await client.query(
    'insert into session_events (session_id, seq, type, data, at) values ($1, $2, $3, $4, $5)',
    values,
  )
}

async function writeEvents(client: PoolClient, events: readonly EmittedState[]): Promise<void> {
  await client.query(insertOutboxEvents, [JSON.stringify(events)])
}

const insertOutboxEvents = `
  insert into outbox (name, payload)
  select event ->> 'name', event -> 'payload' from jsonb_array_elements($1::jsonb) with ordinality as e (event, position)
  order by e.position`

const claimRobot = `
  update robots set status = 'IN_SESSION', link_changed_at = now()
  where id = $1 and status = 'AVAILABLE' and deleted_at is null
  returning *, (select last_heartbeat from robot_presence p where p.robot_id = robots.id) as last_heartbeat`

const insertSession = `
  insert into sessions (id, robot_id, operator_id, client_id, status, event_seq, created_at, started_at, active_since,
    plan_id, client_rate_cents_per_minute, operator_share_percent)
  select $1::uuid, $2::uuid, $3::uuid, $4::uuid, 'ACTIVE', 1, $5::timestamptz, $5::timestamptz, $5::timestamptz,
    id, client_rate_cents_per_minute, operator_share_percent
  from pricing_plans where id = coalesce(
    (select plan_id from organizations where id = $4::uuid), (select id from pricing_plans where is_default))
  returning *`

const insertNotification = `
  with counted as (
    update users set notification_seq = notification_seq + 1 where id = $1 returning id, notification_seq)
  insert into notifications (user_id, seq, type, data, created_at)
  select id, notification_seq, $2::text, $3::jsonb, $4::timestamptz from counted returning seq`

async function startSession(http: Context): Promise<void> {
  const { user_id: operatorId } = await caller(http)
  const { robotId } = http.request.body as { robotId: string }
  const session = await inTransaction(async (client) => {
    const at = new Date()
    const robot = (await client.query(claimRobot, [robotId])).rows[0]
    if (!robot) http.throw(409)
    const { owner_id, robot_type, status, last_heartbeat } = robot
    const made = await client.query(insertSession, [randomUUID(), robotId, operatorId, owner_id, at])
    const { id } = made.rows[0]
    const data = { status: 'ACTIVE', actor_id: operatorId }
    await record(client, { id, seq: 1, type: 'session.started', data, at })
    const about = { session_id: id, robot_id: robotId, robot_name: robot.name }
    const notificationRow = await client.query(insertNotification, [owner_id, 'session.started', about, at])
    const notification = {
      id: String(notificationRow.rows[0].seq),
      type: 'session.started',
      data: about,
      created_at: at,
    }
    const changed = { robot_id: robotId, owner_id, robot_type, status, last_heartbeat }
    await writeEvents(client, [
      { name: 'robots.status', payload: { robots: [changed] } },
      { name: 'session.event', payload: { session_id: id, seq: 1, type: 'session.started', data, at } },
      { name: 'notification', payload: { user_id: owner_id, notification } },
    ])
    return made.rows[0]
  })
  http.status = 201
  http.body = { sessionId: session.id, status: session.status }
}

const insertMessage = `
  with taken as (update sessions set event_seq = event_seq + 1 where id = $2 returning id, event_seq)
  insert into messages (id, session_id, seq, sender_id, sender_name, sender_role, body, client_message_id, created_at)
  select $1::uuid, id, event_seq, $3::uuid, $4::text, 'operator', $5::text, null, $6::timestamptz from taken
  returning *`

async function sendMessage(http: Context): Promise<void> {
  const sender = await caller(http)
  const { body } = http.request.body as { body: string }
  const seen = await pool.query('select id, operator_id, client_id from sessions where id = $1', [
    http.params.id,
  ])
  const session = seen.rows[0]
  if (session?.operator_id !== sender.user_id) http.throw(404)
  const message = await inTransaction(async (client) => {
    const at = new Date()
    const values = [randomUUID(), session.id, sender.user_id, sender.display_name, body, at]
    const { client_message_id: _, ...shown } = (await client.query(insertMessage, values)).rows[0]
    const { seq } = shown
    await record(client, { id: session.id, seq, type: 'chat.message', data: { message_id: shown.id }, at })
    await writeEvents(client, [
      {
        name: 'session.event',
        payload: { session_id: session.id, seq, type: 'chat.message', data: shown, at },
      },
    ])
    return shown
  })
  http.status = 201
  http.body = message
}

serveRest({ listSessions, listRobots, startSession, sendMessage })
