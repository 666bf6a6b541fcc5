import { audit } from '../../../core/audit/audit.ts'
import { accountSuspended, conflict, notFound } from '../../../core/errors/errors.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'

/** The columns that decide whether a user may use the platform. */
interface SuspensionState {
  readonly suspended_at: Date | null
  readonly suspension_reason: string | null
}

/** Rejects the credential of a suspended user. @throws 403 with the reason. */
export function requireNotSuspended({ suspended_at, suspension_reason }: SuspensionState): void {
  if (suspended_at === null) return
  throw accountSuspended(suspension_reason)
}

/**
 * Locks the admin and the user, always in the order of their ids. Two admins who suspend each other at the same time
 * therefore run one after the other, and the second one is suspended by then: one admin always remains.
 */
async function lockBoth(tx: Tx, adminId: string, userId: string) {
  const rows = await tx.db
    .selectFrom('users')
    .select(['id', 'suspended_at', 'suspension_reason'])
    .where('id', 'in', [adminId, userId])
    .orderBy('id')
    .forUpdate()
    .execute()
  return { admin: rows.find(({ id }) => id === adminId), user: rows.find(({ id }) => id === userId) }
}

/** Creates the service with which admins suspend and restore users. */
export function createSuspensions({ transact, now, bus }: { transact: Transact; now: () => Date; bus: Bus }) {
  return {
    /**
     * Suspends a user: every credential, socket and ticket of the user is refused on all nodes within a second. The robot
     * of an operator is halted, and its session continues as after a lost connection.
     * @throws 404 if the user does not exist, 409 if the user is suspended already or is the admin.
     */
    async suspend(adminId: string, userId: string, reason: string, credential?: string): Promise<void> {
      if (adminId === userId)
        throw conflict(
          'own_account_suspension',
          'You cannot suspend your own account. Ask another administrator.',
        )
      await transact(async (tx) => {
        const { admin, user } = await lockBoth(tx, adminId, userId)
        if (admin) requireNotSuspended(admin)
        if (!user) throw notFound('User')
        if (user.suspended_at !== null)
          throw conflict('user_already_suspended', 'The user is already suspended. Restore the user first.')
        const at = now()
        await tx.db
          .updateTable('users')
          .set({ suspended_at: at, suspension_reason: reason })
          .where('id', '=', userId)
          .execute()
        await audit(tx, {
          at,
          organizationId: userId,
          actorId: adminId,
          credential,
          action: 'user.suspended',
          subject: ['user', userId],
          data: { reason },
        })
        await tx.notify(at, [{ userId, type: 'account.suspended', data: { reason } }])
      })
      bus.publish('permissions.lost', { userId, suspended: true })
    },

    /**
     * Ends a suspension. Credentials that have not expired or been revoked are valid again.
     * @throws 404 if the user does not exist, 409 if the user is not suspended.
     */
    restore: (adminId: string, userId: string, credential?: string): Promise<void> =>
      transact(async (tx) => {
        const restored = await tx.db
          .updateTable('users')
          .set({ suspended_at: null, suspension_reason: null })
          .where('id', '=', userId)
          .where('suspended_at', 'is not', null)
          .where('deleted_at', 'is', null)
          .returning('id')
          .executeTakeFirst()
        if (!restored) {
          const known = await tx.db.selectFrom('users').select('id').where('id', '=', userId).execute()
          if (known.length === 0) throw notFound('User')
          throw conflict('user_not_suspended', 'The user is not suspended, so there is nothing to restore.')
        }
        const at = now()
        await audit(tx, {
          at,
          organizationId: userId,
          actorId: adminId,
          credential,
          action: 'user.restored',
          subject: ['user', userId],
        })
        await tx.notify(at, [{ userId, type: 'account.restored', data: {} }])
      }),
  }
}
export type Suspensions = ReturnType<typeof createSuspensions>
