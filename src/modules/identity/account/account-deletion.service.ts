import type { ErrorCode } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import type { CoreServices } from '../../../core/core-services.ts'
import { badRequest, conflict, notFound } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { signInHash } from '../users/sign-in-hash.ts'
import { personalData } from './personal-data.ts'
import type { Person } from './personal-data-part.ts'

/** How long a session token from before a deletion is refused: longer than any is valid. */
const REFUSED_DAYS = 30

interface Obstacle {
  readonly code: ErrorCode
  readonly text: string
  /** Whether it is there, of the person with this id. */
  readonly exists: (id: RawBuilder<string>) => RawBuilder<boolean>
}

/** What a person has to settle first, in this order. */
const obstacles: readonly Obstacle[] = [
  {
    code: 'account_has_sessions',
    text: 'You have open or scheduled sessions. End or cancel them first.',
    exists: (id) => sql`(
      exists (select from sessions
        where (operator_id = ${id} or client_id = ${id}) and status in ('PENDING', 'ACTIVE', 'PAUSED'))
      or exists (select from control_intervals as held join sessions on sessions.id = held.session_id
        where held.user_id = ${id} and held.plan_id is not null and sessions.status in ('ACTIVE', 'PAUSED')))`,
  },
  {
    code: 'account_has_robots',
    text: 'Your personal organization has robots. Remove them, or transfer them to another organization, first.',
    exists: (id) => sql`exists (select from robots where owner_id = ${id} and deleted_at is null)`,
  },
  {
    code: 'account_is_last_owner',
    text: 'You are the last owner of an organization. Make another member an owner, or delete the organization, first.',
    exists: (id) => sql`exists (
      select from organization_members as mine join organizations on organizations.id = mine.organization_id
      where mine.user_id = ${id} and mine.role = 'owner' and organizations.kind = 'team' and not exists (
        select from organization_members as other
        where other.organization_id = mine.organization_id and other.user_id <> ${id} and other.role = 'owner'))`,
  },
  {
    code: 'account_has_invoices',
    text: 'Sessions of yours are not invoiced or not paid yet. Wait for the invoice of this month, and pay all invoices, first.',
    exists: (id) => sql`(
      exists (select from invoices where client_id = ${id} and status in ('DRAFT', 'OPEN', 'FAILED'))
      or exists (select from sessions where client_id = ${id} and status = 'COMPLETED' and invoice_id is null
        and client_charge_cents > 0))`,
  },
  {
    code: 'account_has_balance',
    text: 'You have earnings that are not paid out, or a payout is on its way. Have them paid out first; write to us about an amount that is too small for a payout.',
    exists: (id) => sql`(
      exists (select from payouts where operator_id = ${id} and status = 'PENDING')
      or exists (select from ledger_entries where user_id = ${id} group by account having sum(amount_cents) <> 0))`,
  },
]

/** Deletes accounts: nothing personal remains but what the law demands, under a pseudonym. */
export function createAccountDeletion(deps: Pick<CoreServices, 'db' | 'transact' | 'bus' | 'secrets'>) {
  const { db, transact, bus, secrets } = deps

  async function requireNoObstacle(tx: Tx, id: string): Promise<void> {
    const checks = obstacles.map(
      ({ code, exists }) => sql`${exists(sql<string>`${id}::uuid`)} as ${sql.ref(code)}`,
    )
    const { rows } = await sql<Record<string, boolean>>`select ${sql.join(checks)}`.execute(tx.db)
    const found = obstacles.find(({ code }) => rows[0]?.[code])
    if (found) throw conflict(found.code, found.text)
  }

  /** Follows the table of personal data, part by part. */
  async function removePersonalData(tx: Tx, person: Person): Promise<void> {
    for (const { table, of, deletion } of personalData) {
      if (deletion === 'kept') continue
      const rows = (deletion.where ?? of)(person)
      const statement =
        'delete' in deletion
          ? sql`delete from ${sql.table(table)} where ${rows}`
          : sql`update ${sql.table(table)} set ${deletion.set()} where ${rows}`
      await statement.execute(tx.db)
    }
  }

  return {
    /**
     * Deletes the account of a person at once and for good, with every credential of it.
     * @param confirm the verified or unverified address, or the display name
     * @throws 400 without the confirmation, 409 while there is something to settle
     */
    async remove(userId: string, confirm: string): Promise<void> {
      const ended = await transact(async (tx) => {
        // What refers to the person or to the personal organization from now on waits, and sees the deletion.
        await tx.db
          .selectFrom('organizations')
          .select('id')
          .where('id', '=', userId)
          .forUpdate()
          .executeTakeFirst()
        const user = await tx.db
          .selectFrom('users')
          .select(['id', 'issuer', 'subject', 'email', 'email_verified', 'display_name'])
          .where('id', '=', userId)
          .where('deleted_at', 'is', null)
          .forUpdate()
          .executeTakeFirst()
        if (!user) throw notFound('User')
        if (
          ![user.email?.toLowerCase(), user.display_name.toLowerCase()].includes(confirm.trim().toLowerCase())
        )
          throw badRequest('confirm: must be your e-mail address or your display name')
        await requireNoObstacle(tx, userId)
        const programs = await tx.db
          .selectFrom('users')
          .select('id')
          .where('service_of_id', '=', userId)
          .orderBy('id')
          .forUpdate()
          .execute()
        const keys = await tx.db
          .selectFrom('api_keys')
          .select('id')
          .where(({ eb, or }) => or([eb('user_id', '=', userId), eb('organization_id', '=', userId)]))
          .where('revoked_at', 'is', null)
          .execute()
        await tx.db
          .updateTable('users')
          .set({ suspended_at: sql`now()`, suspension_reason: 'The account was deleted.' })
          .where('service_of_id', '=', userId)
          .where('suspended_at', 'is', null)
          .execute()
        await tx.db
          .insertInto('ended_sign_ins')
          .values({ sign_in_hash: signInHash(secrets, user), ended_at: sql`now()` })
          .onConflict((conflict) => conflict.column('sign_in_hash').doUpdateSet({ ended_at: sql`now()` }))
          .execute()
        await removePersonalData(tx, { id: userId, email: user.email_verified ? user.email : null })
        await audit(tx, {
          at: new Date(),
          actorId: userId,
          action: 'account.deleted',
          subject: ['user', userId],
        })
        return { keys, users: [userId, ...programs.map(({ id }) => id)] }
      })
      for (const { id } of ended.keys) bus.publish('credential.revoked', { apiKeyId: id })
      for (const id of ended.users) bus.publish('permissions.lost', { userId: id, suspended: true })
    },

    /** Forgets sign-ins whose tokens have all expired. */
    async forgetEndedSignIns(): Promise<void> {
      await db
        .deleteFrom('ended_sign_ins')
        .where('ended_at', '<', sql<Date>`now() - ${REFUSED_DAYS} * interval '1 day'`)
        .execute()
    },
  }
}
export type AccountDeletion = ReturnType<typeof createAccountDeletion>
