import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import {
  badRequest,
  conflict,
  forbidden,
  missingReference,
  notFound,
  uniqueViolation,
} from '../../core/errors/errors.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { memberMay, ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import { linkChanged } from './link-changed.ts'
import type { RegisterRobot, UpdateRobot } from './robot.schema.ts'
import type { RobotDetailRow } from './robot.view.ts'
import { robotsWithPresence } from './robot-list.service.ts'

/** Manages owners' robots: registration, settings, tokens. Presence and sessions own the live state. */
export function createRobots(deps: {
  db: Db
  transact: Transact
  now: () => Date
  /** Cancels the scheduled sessions of a robot, in the same transaction. */
  cancelScheduled: (tx: Tx, robotId: string) => Promise<void>
  /** Whether a new robot requires a certification when its owner does not specify it. */
  requireCertification: boolean
}) {
  const { db, transact, now, cancelScheduled } = deps
  /** @throws 404 when the robot does not exist or belongs to another user. */
  async function get(scope: Scope, id: string): Promise<RobotDetailRow> {
    const row = await robotsWithPresence(db)
      .select(['robot_presence.battery', 'robot_presence.battery_at', 'robot_presence.low_battery_threshold'])
      .select(['robots.control_schema', 'robots.telemetry_schema', 'robots.operator_notes'])
      .where('robots.id', '=', id)
      .where(ownedBy(scope))
      .executeTakeFirst()
    if (!row) throw notFound('Robot')
    return row
  }

  /** Describes who can resolve a conflict of hardware ids. Says nothing about robots of other owners. */
  async function describeTaken(scope: Scope, hardwareId: string): Promise<string> {
    const own = await db
      .selectFrom('robots')
      .select('name')
      .where(ownedBy(scope))
      .where('deleted_at', 'is', null)
      .where(sql<boolean>`lower(btrim(hardware_id)) = lower(btrim(${hardwareId}))`)
      .executeTakeFirst()
    return own
      ? `hardware_id: your robot "${own.name}" has this id. Case is ignored. Enter another id, or remove that robot first.`
      : 'hardware_id: cannot be registered. Check the id. If it is right, contact support.'
  }

  /** Returns the fields of an entry in the audit log that say who acts, when and for whom. */
  const by = ({ organizationId, actorId, credential }: Scope) => ({
    at: now(),
    organizationId,
    actorId,
    credential,
  })

  return {
    get,

    /** @throws 409 when another robot has the hardware_id. */
    async register(scope: Scope, input: RegisterRobot): Promise<RobotDetailRow> {
      const id = randomUUID()
      try {
        return await transact(async (tx) => {
          await requireClient(tx, scope)
          const row = await tx.db
            .insertInto('robots')
            .values({
              id,
              owner_id: scope.organizationId,
              // A member of some groups registers robots for them only.
              group_id: scope.groupIds?.[0] ?? null,
              ...input,
              created_at: now(),
              require_certification: input.require_certification ?? deps.requireCertification,
            })
            .returningAll()
            .executeTakeFirstOrThrow()
          const presence = await tx.db
            .insertInto('robot_presence')
            .values({ robot_id: id })
            .returning(['last_online', 'last_heartbeat', 'battery', 'battery_at', 'low_battery_threshold'])
            .executeTakeFirstOrThrow()
          return { ...row, ...presence }
        })
      } catch (cause) {
        if (uniqueViolation(cause) === 'one_robot_per_hardware_id') {
          throw conflict('hardware_id_taken', await describeTaken(scope, input.hardware_id))
        }
        throw cause
      }
    },

    async update(scope: Scope, id: string, change: UpdateRobot): Promise<RobotDetailRow> {
      const { low_battery_threshold, ...settings } = change
      const { group_id: groupId } = settings
      // A member of some groups must not take a robot out of their sight.
      if (groupId !== undefined && scope.groupIds && !(groupId && scope.groupIds.includes(groupId)))
        throw badRequest('group_id: must be one of your groups')
      await transact(async (tx) => {
        if (low_battery_threshold !== undefined) await setThreshold(tx, scope, id, low_battery_threshold)
        const changed = await tx.db
          .updateTable('robots')
          .set({ ...settings, ...linkChanged }) // the gateway applies the latency limit
          .where('id', '=', id)
          .where(ownedBy(scope))
          .where('deleted_at', 'is', null)
          .executeTakeFirst()
          .catch((cause) => {
            if (missingReference(cause) !== 'robots_group_foreign') throw cause
            throw badRequest('group_id: must be the id of a group of the organization')
          })
        if (changed.numUpdatedRows === 0n) throw notFound('Robot')
        for (const [action, data] of auditedChanges(change))
          await audit(tx, { ...by(scope), action, subject: ['robot', id], data })
        tx.robotsChanged(id)
      })
      return await get(scope, id)
    },

    /** Invalidates older tokens and closes the connection that was opened with one. Returns the new version. */
    rotateToken: (scope: Scope, id: string): Promise<number> =>
      transact(async (tx) => {
        const row = await tx.db
          .updateTable('robots')
          .set((eb) => ({ token_version: eb('token_version', '+', 1), ...linkChanged }))
          .where('id', '=', id)
          .where(ownedBy(scope))
          .where('deleted_at', 'is', null)
          .returning('token_version')
          .executeTakeFirst()
        if (!row) throw notFound('Robot')
        await audit(tx, {
          ...by(scope),
          action: 'robot.token_rotated',
          subject: ['robot', id],
          data: { token_version: row.token_version },
        })
        tx.robotsChanged(id)
        return row.token_version
      }),

    /**
     * Removes a robot from its owner and frees its hardware_id. Past sessions retain the robot's name.
     * @throws 409 while the robot is in an open session.
     */
    async remove(scope: Scope, id: string): Promise<void> {
      await get(scope, id)
      await transact(async (tx) => {
        const removed = await tx.db
          .updateTable('robots')
          .set({ deleted_at: now(), status: 'OFFLINE', ...linkChanged })
          .where('id', '=', id)
          .where(ownedBy(scope))
          .where('status', '<>', 'IN_SESSION')
          .where('deleted_at', 'is', null)
          .executeTakeFirst()
        if (removed.numUpdatedRows === 0n)
          throw conflict('robot_in_session', 'The robot is in an open session. End the session first.')
        await audit(tx, {
          ...by(scope),
          action: 'robot.removed',
          subject: ['robot', id],
        })
        await cancelScheduled(tx, id)
        tx.robotsChanged(id)
      })
    },

    /**
     * Transfers a robot to another organization of the actor. Its past sessions, recordings and datasets stay where they are; planned
     * sessions are cancelled, and its token stays valid.
     * @throws 404 for an organization in which the actor may not register robots; 409 during an open session
     */
    async transfer(scope: Scope, id: string, targetId: string): Promise<void> {
      await get(scope, id)
      await transact(async (tx) => {
        const moved = await tx.db
          .updateTable('robots')
          .set({ owner_id: targetId, group_id: null, ...linkChanged })
          .where('id', '=', id)
          .where(ownedBy(scope))
          .where('deleted_at', 'is', null)
          .where('status', '<>', 'IN_SESSION')
          .where(
            memberMay('robots.write', {
              user: sql`${scope.actorId}::uuid`,
              organization: sql`${targetId}::uuid`,
              group: sql`null::uuid`,
            }),
          )
          .returning('id')
          .executeTakeFirst()
        if (!moved) throw await transferRefusal(tx, id)
        await cancelScheduled(tx, id)
        const data = { from: scope.organizationId, to: targetId }
        const event = {
          at: now(),
          actorId: scope.actorId,
          credential: scope.credential,
          action: 'robot.transferred',
        }
        const subject = ['robot', id] as const
        await audit(tx, { ...event, organizationId: scope.organizationId, subject, data })
        await audit(tx, { ...event, organizationId: targetId, subject, data })
        tx.robotsChanged(id)
      })
    },
  }
}
export type Robots = ReturnType<typeof createRobots>

/** Returns why a robot was not transferred. */
async function transferRefusal(tx: Tx, id: string): Promise<Error> {
  const robot = await tx.db.selectFrom('robots').select('status').where('id', '=', id).executeTakeFirst()
  return robot?.status === 'IN_SESSION'
    ? conflict('robot_in_session', 'The robot is in an open session. End the session first.')
    : notFound('Organization')
}

/**
 * Returns the entries of the audit log for a change of settings. Every setting is in one of them, since each can decide how safely a
 * robot is driven. The address of a video stream can contain a password, and notes personal data: entries say only that they changed.
 */
function auditedChanges(change: UpdateRobot): [action: string, data: Record<string, unknown>][] {
  const { video_limit_ms, recording, recording_days, stream_url, notes, operator_notes, ...settings } = change
  const changed = (value: unknown) => (value === undefined ? undefined : 'changed')
  const texts = {
    stream_url: changed(stream_url),
    notes: changed(notes),
    operator_notes: changed(operator_notes),
  }
  const entries = [
    ['robot.video_limit_changed', { video_limit_ms }],
    ['robot.recording_changed', { recording, recording_days }],
    ['robot.settings_changed', { ...settings, ...texts }],
  ] as const
  return entries.flatMap(([action, fields]) => {
    const data = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    return Object.keys(data).length > 0 ? [[action, data]] : []
  })
}

/** Requires the client role of a person. The lock makes a concurrent removal of the role wait for this registration. */
async function requireClient(tx: Tx, { organizationId, actorId }: Scope): Promise<void> {
  if (organizationId !== actorId) return
  const client = await tx.db
    .selectFrom('users')
    .select('id')
    .where('id', '=', actorId)
    .where('is_client', '=', true)
    .forKeyShare()
    .executeTakeFirst()
  if (!client)
    throw forbidden(
      'role_required',
      'Registering a robot requires the client role. Add the role in your settings first.',
    )
}

/** Sets the low-battery threshold. Locks the presence row before the robot's row, the order that all transactions use. */
async function setThreshold(tx: Tx, scope: Scope, id: string, threshold: number): Promise<void> {
  await tx.db
    .updateTable('robot_presence')
    .set({ low_battery_threshold: threshold })
    .where('robot_id', 'in', (eb) =>
      eb.selectFrom('robots').select('id').where('id', '=', id).where(ownedBy(scope)),
    )
    .execute()
}
