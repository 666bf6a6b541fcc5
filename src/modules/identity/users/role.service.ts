import { sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import { conflict, forbidden, notFound } from '../../../core/errors/errors.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'

/** The roles that users take and drop; admins are named by configuration. */
export type OwnRole = 'client' | 'operator'

/** Locks a user against sessions and robots that are just being made for them. @throws 404 for an unknown user. */
async function lockUser(tx: Tx, userId: string) {
  const user = await tx.db
    .selectFrom('users')
    .select(['is_client', 'is_operator', 'removed_roles'])
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
  if (!user) throw notFound('Role') // to who asks for a role of theirs, an unknown user has none
  return user
}

async function setRole(tx: Tx, userId: string, role: OwnRole, held: boolean): Promise<void> {
  await tx.db
    .updateTable('users')
    .set({ [`is_${role}`]: held })
    .where('id', '=', userId)
    .execute()
}

/** Whether sessions of a user's side are open or scheduled. */
async function hasSessions(tx: Tx, userId: string, role: OwnRole): Promise<boolean> {
  const session = await tx.db
    .selectFrom('sessions')
    .select('id')
    .where(`${role}_id`, '=', userId)
    .where('status', 'in', ['PENDING', 'ACTIVE', 'PAUSED'])
    .limit(1)
    .executeTakeFirst()
  return session !== undefined
}

async function hasRobots(tx: Tx, userId: string): Promise<boolean> {
  const robot = await tx.db
    .selectFrom('robots')
    .select('id')
    .where('owner_id', '=', userId)
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return robot !== undefined
}

/** Adds a role to those a user holds, as part of a transaction. @throws 403 when an admin has removed it. */
export async function takeRole(tx: Tx, at: Date, userId: string, role: OwnRole): Promise<void> {
  const flag = `is_${role}` as const
  const taken = await tx.db
    .updateTable('users')
    .set({ [flag]: true })
    .where('id', '=', userId)
    .where(flag, '=', false)
    .where(sql<boolean>`${role} <> all (removed_roles)`)
    .returning('id')
    .executeTakeFirst()
  if (taken) {
    return await audit(tx, {
      at,
      actorId: userId,
      action: 'user.role_taken',
      subject: ['user', userId],
      data: { role },
    })
  }
  const { removed_roles: removed } = await lockUser(tx, userId)
  if (removed.includes(role)) {
    throw forbidden(
      'role_removed',
      `An administrator has removed your ${role} role. Ask an administrator to give it back.`,
    )
  }
}

/** Dropping and removing roles. What a role has earned, owes and has done stays where it is. */
export function createRoles(deps: { transact: Transact; now: () => Date }) {
  const { transact, now } = deps
  return {
    /**
     * A user gives up a role of their own.
     * @throws 404 not held, 409 while sessions are open or scheduled, or robots are registered.
     */
    drop: (userId: string, role: OwnRole): Promise<void> =>
      transact(async (tx) => {
        const user = await lockUser(tx, userId)
        if (!user[`is_${role}`]) throw notFound('Role')
        if (await hasSessions(tx, userId, role)) {
          throw conflict(
            'role_in_use',
            'You have sessions that are open or scheduled. End or cancel them first.',
          )
        }
        if (role === 'client' && (await hasRobots(tx, userId))) {
          throw conflict('role_in_use', 'You have robots. Remove them first.')
        }
        await setRole(tx, userId, role, false)
        await audit(tx, {
          at: now(),
          actorId: userId,
          action: 'user.role_dropped',
          subject: ['user', userId],
          data: { role },
        })
      }),

    /**
     * An admin takes a role away. The user cannot take it again, and is notified. Open sessions go on; nothing new
     * starts.
     * @throws 404 unknown user, or a role that they do not hold.
     */
    remove: (adminId: string, userId: string, role: OwnRole): Promise<void> =>
      transact(async (tx) => {
        const user = await lockUser(tx, userId)
        if (!user[`is_${role}`]) throw notFound('Role')
        await setRole(tx, userId, role, false)
        await tx.db
          .updateTable('users')
          .set({ removed_roles: sql<string[]>`array_append(array_remove(removed_roles, ${role}), ${role})` })
          .where('id', '=', userId)
          .execute()
        const at = now()
        await audit(tx, {
          at,
          actorId: adminId,
          action: 'user.role_removed',
          subject: ['user', userId],
          data: { role },
        })
        await tx.notify(at, [{ userId, type: 'role.removed', data: { role } }])
      }),

    /**
     * An admin lets a user take a role again that was removed.
     * @throws 404 unknown user, or a role that was not removed.
     */
    restore: (adminId: string, userId: string, role: OwnRole): Promise<void> =>
      transact(async (tx) => {
        const user = await lockUser(tx, userId)
        if (!user.removed_roles.includes(role)) throw notFound('Role')
        await tx.db
          .updateTable('users')
          .set({ removed_roles: sql<string[]>`array_remove(removed_roles, ${role})`, [`is_${role}`]: true })
          .where('id', '=', userId)
          .execute()
        await audit(tx, {
          at: now(),
          actorId: adminId,
          action: 'user.role_restored',
          subject: ['user', userId],
          data: { role },
        })
      }),
  }
}
export type Roles = ReturnType<typeof createRoles>
