import { createHash, randomUUID } from 'node:crypto'
import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import type { Context } from 'koa'
import { connectOrm } from '../../../src/app/database/orm.ts'
import { OutboxEvent } from '../../../src/core/events/outbox.entity.ts'
import { PricingPlan } from '../../../src/modules/billing/billing.entity.ts'
import { ApiKey } from '../../../src/modules/identity/api-keys/api-key.entity.ts'
import { User } from '../../../src/modules/identity/users/user.entity.ts'
import { Notification } from '../../../src/modules/notifications/notification.entity.ts'
import { Organization } from '../../../src/modules/organizations/organization.entity.ts'
import { RobotPresence } from '../../../src/modules/presence/presence.entity.ts'
import { Robot } from '../../../src/modules/robots/robot.entity.ts'
import { Message, Session, SessionEvent } from '../../../src/modules/sessions/record/session.entity.ts'
import { serveRest } from './rest-peer.ts'

// The peer for REST: the same requests in the style of the ORM's manual. An entity manager per request, find, change,
// flush: the unit of work computes the changes.

const orm = await connectOrm({
  url: process.env.DATABASE_URL ?? '',
  poolSize: 10,
  applicationName: 'wheelhouse-bench-orm',
})

async function caller(em: EntityManager, http: Context): Promise<User> {
  const hash = createHash('sha256').update(http.get('Authorization').slice('Bearer '.length)).digest('hex')
  const key = await em.findOneOrFail(ApiKey, { hash })
  return await em.findOneOrFail(User, key.user)
}

const byId = <T extends { id: string }>(entities: readonly T[]) =>
  new Map(entities.map((entity) => [entity.id, entity]))

async function listSessions(http: Context): Promise<void> {
  const em = orm.em.fork()
  const user = await caller(em, http)
  const sessions = await em.find(
    Session,
    { client: user.id },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit: Number(http.query.limit ?? 50) },
  )
  const robots = byId(await em.find(Robot, [...new Set(sessions.map((session) => session.robot))]))
  const operators = byId(await em.find(User, [...new Set(sessions.map((session) => session.operator))]))
  http.body = {
    sessions: sessions.map((session) => ({
      id: session.id,
      status: session.status,
      started_at: session.startedAt,
      ended_at: session.endedAt,
      duration_minutes: Math.ceil(
        ((session.endedAt?.getTime() ?? 0) - (session.startedAt?.getTime() ?? 0)) / 60_000,
      ),
      client_charge_cents: session.clientChargeCents,
      rating: session.rating,
      created_at: session.createdAt,
      robot_id: session.robot,
      robot_name: session.recordedRobotName ?? robots.get(session.robot)?.name,
      robot_type: session.recordedRobotType ?? robots.get(session.robot)?.robotType,
      operator_name: session.recordedOperatorName ?? operators.get(session.operator)?.displayName,
      episodes_collected: session.episodesCollected,
      data_collected_mb: session.dataCollectedBytes / 1_000_000,
    })),
  }
}

async function listRobots(http: Context): Promise<void> {
  const em = orm.em.fork()
  const user = await caller(em, http)
  const robots = await em.find(
    Robot,
    { owner: user.id, deletedAt: null },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit: 50 },
  )
  const presences = await em.find(RobotPresence, { robot: robots.map((robot) => robot.id) })
  const presenceOf = new Map(presences.map((presence) => [presence.robot, presence]))
  http.body = robots.map((robot) => ({
    id: robot.id,
    name: robot.name,
    robot_type: robot.robotType,
    status: robot.status,
    control_url: `ws://localhost:3002/robots/${robot.id}/control`,
    stream_url: robot.streamUrl,
    hardware_id: robot.hardwareId,
    last_online: presenceOf.get(robot.id)?.lastOnline,
    last_heartbeat: presenceOf.get(robot.id)?.lastHeartbeat,
    total_hours: Math.round((robot.sessionSeconds / 3_600) * 1_000) / 1_000,
    tags: robot.tags,
    notes: robot.notes,
    created_at: robot.createdAt,
  }))
}

async function startSession(http: Context): Promise<void> {
  const em = orm.em.fork()
  const operator = await caller(em, http)
  const { robotId } = http.request.body as { robotId: string }
  const session = await em.transactional(async (tx) => {
    const at = new Date()
    const robot = await tx.findOneOrFail(Robot, robotId, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (robot.status !== 'AVAILABLE') http.throw(409)
    robot.status = 'IN_SESSION'
    robot.linkChangedAt = at
    const presence = await tx.findOneOrFail(RobotPresence, { robot: robotId })
    const owner = await tx.findOneOrFail(User, robot.owner, { lockMode: LockMode.PESSIMISTIC_WRITE })
    owner.notificationSeq += 1
    const { plan: planId } = await tx.findOneOrFail(Organization, robot.owner)
    const plan = planId
      ? await tx.findOneOrFail(PricingPlan, planId)
      : await tx.findOneOrFail(PricingPlan, { isDefault: true })
    const made = tx.create(Session, {
      id: randomUUID(),
      robot: robot.id,
      operator: operator.id,
      client: robot.owner,
      status: 'ACTIVE',
      startedAt: at,
      activeSince: at,
      planId: plan.id,
      clientRateCentsPerMinute: plan.clientRateCentsPerMinute,
      operatorSharePercent: plan.operatorSharePercent,
      createdAt: at,
      eventSeq: 1,
    })
    const data = { status: 'ACTIVE', actor_id: operator.id }
    const event = { seq: 1, type: 'session.started', data, at }
    tx.create(SessionEvent, { session: made.id, ...event })
    const about = { session_id: made.id, robot_id: robot.id, robot_name: robot.name }
    const notification = { seq: owner.notificationSeq, type: 'session.started', data: about, createdAt: at }
    tx.create(Notification, { user: owner.id, ...notification })
    const { id: robot_id, owner: owner_id, robotType: robot_type, status } = robot
    const changed = { robot_id, owner_id, robot_type, status, last_heartbeat: presence.lastHeartbeat }
    tx.create(OutboxEvent, { name: 'robots.status', payload: { robots: [changed] } })
    tx.create(OutboxEvent, { name: 'session.event', payload: { session_id: made.id, ...event } })
    tx.create(OutboxEvent, { name: 'notification', payload: { user_id: owner.id, notification } })
    return made
  })
  http.status = 201
  http.body = { sessionId: session.id, status: session.status }
}

async function sendMessage(http: Context): Promise<void> {
  const em = orm.em.fork()
  const sender = await caller(em, http)
  const { body } = http.request.body as { body: string }
  const message = await em.transactional(async (tx) => {
    const at = new Date()
    const session = await tx.findOneOrFail(Session, http.params.id as string, {
      lockMode: LockMode.PESSIMISTIC_WRITE,
    })
    if (session.operator !== sender.id) http.throw(404)
    session.eventSeq += 1
    const made = tx.create(Message, {
      id: randomUUID(),
      session: session.id,
      seq: session.eventSeq,
      sender: sender.id,
      senderName: sender.displayName,
      senderRole: 'operator',
      body,
      createdAt: at,
    })
    const event = { seq: session.eventSeq, type: 'chat.message', at }
    tx.create(SessionEvent, { session: session.id, ...event, data: { message_id: made.id } })
    tx.create(OutboxEvent, {
      name: 'session.event',
      payload: { session_id: session.id, ...event, data: made },
    })
    return made
  })
  http.status = 201
  http.body = {
    id: message.id,
    session_id: message.session,
    seq: message.seq,
    sender_id: message.sender,
    sender_name: message.senderName,
    sender_role: message.senderRole,
    body: message.body,
    created_at: message.createdAt,
  }
}

serveRest({ listSessions, listRobots, startSession, sendMessage })
