import { createHash, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import { Pool, type PoolClient, types } from 'pg'
import { sayReady } from '../rpc.ts'

// The limit for REST: Koa, its router, its body parser, and the statements that Wheelhouse sends for the same
// request, written by hand. No validation, no notion of who may do what, no error bodies.

const GATEWAY_URL = 'ws://localhost:3002'
const INT8 = 20

types.setTypeParser(INT8, Number)
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 })

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
  select s.*, r.name as robot_name, r.robot_type, o.display_name as operator_name
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

interface Told {
  readonly name: string
  readonly payload: object
}

/** What every change leaves behind: the log, the client's notification, facts for the hub. */
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

async function tell(client: PoolClient, facts: readonly Told[]): Promise<void> {
  const places = facts.map((_, index) => `($${2 * index + 1}, $${2 * index + 2})`).join(', ')
  const values = facts.flatMap(({ name, payload }) => [name, JSON.stringify(payload)])
  await client.query(`insert into outbox (name, payload) values ${places}`, values)
}

async function startSession(http: Context): Promise<void> {
  const { user_id: operatorId } = await caller(http)
  const { robotId } = http.request.body as { robotId: string }
  const session = await inTransaction(async (client) => {
    const at = new Date()
    const claimed = await client.query(
      `update robots set status = 'IN_SESSION' where id = $1 and status = 'AVAILABLE' and deleted_at is null returning *`,
      [robotId],
    )
    const robot = claimed.rows[0]
    if (!robot) http.throw(409)
    const presence = await client.query('select last_heartbeat from robot_presence where robot_id = $1', [
      robotId,
    ])
    const made = await client.query(
      `insert into sessions (id, robot_id, operator_id, client_id, created_at, event_seq, status, started_at)
       values ($1, $2, $3, $4, $5, 1, 'ACTIVE', $5) returning *`,
      [randomUUID(), robotId, operatorId, robot.owner_id, at],
    )
    const { id } = made.rows[0]
    await client.query('update robots set link_changed_at = now() where id = $1', [robotId])
    const data = { status: 'ACTIVE', actor_id: operatorId }
    await record(client, { id, seq: 1, type: 'session.started', data, at })
    const counted = await client.query(
      'update users set notification_seq = notification_seq + 1 where id = $1 returning notification_seq',
      [robot.owner_id],
    )
    const about = { session_id: id, robot_id: robotId, robot_name: robot.name }
    const seq = counted.rows[0].notification_seq
    await client.query(
      'insert into notifications (user_id, seq, type, data, created_at) values ($1, $2, $3, $4, $5)',
      [robot.owner_id, seq, 'session.started', about, at],
    )
    const { status, owner_id, robot_type } = robot
    const { last_heartbeat } = presence.rows[0]
    await tell(client, [
      {
        name: 'robots.status',
        payload: { robots: [{ robot_id: robotId, owner_id, robot_type, status, last_heartbeat }] },
      },
      { name: 'session.event', payload: { session_id: id, seq: 1, type: 'session.started', data, at } },
      {
        name: 'notification',
        payload: {
          user_id: owner_id,
          notification: { id: String(seq), type: 'session.started', data: about, created_at: at },
        },
      },
    ])
    return made.rows[0]
  })
  http.status = 201
  http.body = { sessionId: session.id, status: session.status }
}

const sessionWithNames = `
  select s.*, r.name as robot_name, r.robot_type, o.display_name as operator_name
  from sessions s inner join robots r on r.id = s.robot_id inner join users o on o.id = s.operator_id
  where s.id = $1`

async function sendMessage(http: Context): Promise<void> {
  const sender = await caller(http)
  const { body } = http.request.body as { body: string }
  const seen = await pool.query(sessionWithNames, [http.params.id])
  const session = seen.rows[0]
  if (session?.operator_id !== sender.user_id) http.throw(404)
  const message = await inTransaction(async (client) => {
    const at = new Date()
    const taken = await client.query(
      'update sessions set event_seq = event_seq + 1 where id = $1 returning event_seq',
      [session.id],
    )
    const seq = taken.rows[0].event_seq
    const made = await client.query(
      `insert into messages (id, session_id, seq, sender_id, sender_name, sender_role, body, client_message_id, created_at)
       values ($1, $2, $3, $4, $5, 'operator', $6, null, $7) returning *`,
      [randomUUID(), session.id, seq, sender.user_id, sender.display_name, body, at],
    )
    const { client_message_id: _, ...shown } = made.rows[0]
    await record(client, { id: session.id, seq, type: 'chat.message', data: { message_id: shown.id }, at })
    await tell(client, [
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

const router = new Router()
router.get('/api/sessions', listSessions)
router.get('/api/client/robots', listRobots)
router.post('/api/sessions', startSession)
router.post('/api/sessions/:id/messages', sendMessage)
const app = new Koa()
app.use(bodyParser())
app.use(router.routes())
const server = app.listen(0, '127.0.0.1', () => sayReady((server.address() as AddressInfo).port))
