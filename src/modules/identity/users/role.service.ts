import { sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import { conflict, forbidden, notFound } from '../../../core/errors/errors.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'

/** The roles that users can add and drop. The configuration names the admins. */
export type OwnRole = 'client' | 'operator'

/** Locks a user, so that no transaction creates sessions or robots for the user. @throws 404 if the user does not exist. */
async function lockUser(tx: Tx, userId: string) {
  const user = await tx.db
    .selectFrom('users')
    .select(['is_client', 'is_operator', 'removed_roles'])
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
  if (!user) throw notFound('Role') // an unknown user has no role
  return user
}

async function setRole(tx: Tx, userId: string, role: OwnRole, isHeld: boolean): Promise<void> {
  await tx.db
    .updateTable('users')
    .set({ [`is_${role}`]: isHeld })
    .where('id', '=', userId)
    .execute()
}

/** Returns whether the user has open or scheduled sessions in a role. */
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

/** Adds a role to a user in the caller's transaction. @throws 403 if an admin has removed the role. */
export async function addRole(
  tx: Tx,
  at: Date,
  userId: string,
  role: OwnRole,
  credential?: string,
): Promise<void> {
  const flag = `is_${role}` as const
  const added = await tx.db
    .updateTable('users')
    .set({ [flag]: true })
    .where('id', '=', userId)
    .where(flag, '=', false)
    .where(sql<boolean>`${role} <> all (removed_roles)`)
    .returning('id')
    .executeTakeFirst()
  if (added) {
    return await audit(tx, {
      at,
      organizationId: userId,
      actorId: userId,
      credential,
      action: 'user.role_taken',
      subject: ['user', userId],
      data: { role },
    })
  }
  const { removed_roles: removed } = await lockUser(tx, userId)
  if (removed.includes(role)) {
    throw forbidden(
      'role_removed',
      `An administrator has removed your ${role} role. Ask an administrator to restore it.`,
    )
  }
}

/** Creates the role service. Dropping or removing a role does not change earnings, invoices or past sessions. */
export function createRoles(deps: { transact: Transact; now: () => Date; bus: Bus }) {
  const { transact, now, bus } = deps
  return {
    /**
     * Drops a role of the calling user.
     * @throws 404 if the user does not have the role, 409 if the user has open or scheduled sessions, or robots.
     */
    drop: (userId: string, role: OwnRole, credential?: string): Promise<void> =>
      transact(async (tx) => {
        const user = await lockUser(tx, userId)
        if (!user[`is_${role}`]) throw notFound('Role')
        if (await hasSessions(tx, userId, role)) {
          throw conflict('role_in_use', 'You have open or scheduled sessions. End or cancel them first.')
        }
        if (role === 'client' && (await hasRobots(tx, userId))) {
          throw conflict('role_in_use', 'You have robots. Remove them first.')
        }
        await setRole(tx, userId, role, false)
        await audit(tx, {
          at: now(),
          organizationId: userId,
          actorId: userId,
          credential,
          action: 'user.role_dropped',
          subject: ['user', userId],
          data: { role },
        })
      }),

    /**
     * Removes a role of a user on behalf of an admin, and notifies the user. The user cannot add the role again. Open
     * sessions continue; new ones cannot start.
     * @throws 404 if the user does not exist or does not have the role.
     */
    async remove(adminId: string, userId: string, role: OwnRole, credential?: string): Promise<void> {
      await transact(async (tx) => {
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
          organizationId: userId,
          actorId: adminId,
          credential,
          action: 'user.role_removed',
          subject: ['user', userId],
          data: { role },
        })
        await tx.notify(at, [{ userId, type: 'role.removed', data: { role } }])
      })
      bus.publish('permissions.lost', { userId, suspended: false })
    },

    /**
     * Restores a role that an admin removed.
     * @throws 404 if the user does not exist or the role was not removed.
     */
    restore: (adminId: string, userId: string, role: OwnRole, credential?: string): Promise<void> =>
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
          organizationId: userId,
          actorId: adminId,
          credential,
          action: 'user.role_restored',
          subject: ['user', userId],
          data: { role },
        })
      }),
  }
}
export type Roles = ReturnType<typeof createRoles>
