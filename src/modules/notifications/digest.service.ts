import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { PRESENCE_TTL_SECONDS } from '../identity/index.ts'
import { countedSince, type DigestInput, decide, GIVE_UP_MS } from './digest-policy.ts'
import { hasAddress, wantsMail, wantsPush } from './preferences.ts'

/** Maximum number of users that one run processes. */
const USERS_PER_RUN = 500
/** Maximum number of notifications in a mail. The mail only counts older ones. */
const MAX_LISTED = 20
/** Maximum number of older notifications that are counted. */
const MAX_COUNTED = 500
/** Maximum number of recent mails of a user that are read. It exceeds the number that the limits can count. */
const RECENT_MAILS_LIMIT = 50
/** Delivered mails are retained for this long, so that operators of the platform can answer questions about them. */
const RETENTION_MS = 24 * 3_600_000
const REMOVED_PER_RUN = 5_000

interface Digest {
  readonly user_id: string
  readonly from_seq: number
}

/**
 * Writes mails for unread notifications. The worker that deletes a user's row of `notification_digests` writes
 * their mail in the same transaction. Several workers can run at once, and no mail is written twice.
 */
export function createDigests(deps: { transact: Transact; now: () => Date }) {
  const { transact, now } = deps

  /** Processes the user whose digest has been due longest. Returns false when no digest is due. */
  const processNext = () =>
    transact(async (tx) => {
      const at = now()
      const digest = await lockDueDigest(tx, at)
      if (!digest) return false
      const input = await loadDigestInput(tx, digest, at)
      const decision = decide(at, input)
      if (decision.kind === 'later') {
        await postpone(tx, digest, decision.at)
        return true
      }
      await tx.db.deleteFrom('notification_digests').where('user_id', '=', digest.user_id).execute()
      if (decision.kind === 'mail') await writeMail(tx, digest, input, decision.urgent, at)
      return true
    })

  return {
    /** Processes all due digests, up to the limit of one run. */
    async run(): Promise<void> {
      for (let processed = 0; processed < USERS_PER_RUN; processed++) if (!(await processNext())) return
    },

    /** Deletes mails that were delivered more than a day ago. */
    removeDelivered: () =>
      transact(async (tx) => {
        await tx.db
          .deleteFrom('notification_mails')
          .where('id', 'in', (eb) =>
            eb
              .selectFrom('notification_mails')
              .select('id')
              .where('delivered_at', '<', new Date(now().getTime() - RETENTION_MS))
              .orderBy('delivered_at')
              .limit(REMOVED_PER_RUN),
          )
          .execute()
      }),
  }
}
/** Locks the digest that has been due longest. Skips rows that other transactions have locked. */
const lockDueDigest = (tx: Tx, at: Date): Promise<Digest | undefined> =>
  tx.db
    .selectFrom('notification_digests')
    .select(['user_id', 'from_seq'])
    .where('due_at', '<=', at)
    .orderBy('due_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

const postpone = (tx: Tx, { user_id }: Digest, dueAt: Date) =>
  tx.db.updateTable('notification_digests').set({ due_at: dueAt }).where('user_id', '=', user_id).execute()

async function loadDigestInput(tx: Tx, { user_id, from_seq }: Digest, at: Date): Promise<DigestInput> {
  const recipient = await tx.db
    .selectFrom('users')
    .leftJoin('user_presence as presence', 'presence.user_id', 'users.id')
    .select([
      sql<boolean>`${hasAddress} and ${wantsMail}`.as('can_mail'),
      sql<boolean>`${wantsPush}
        and coalesce(presence.seen_at > now() - ${PRESENCE_TTL_SECONDS} * interval '1 second', false)`.as(
        'at_hub',
      ),
    ])
    .where('users.id', '=', user_id)
    .executeTakeFirstOrThrow()
  const pending = await tx.db
    .selectFrom('notifications')
    .select(['seq', 'type', 'created_at'])
    .where('user_id', '=', user_id)
    .where('seq', '>=', from_seq)
    .where('read_at', 'is', null)
    .where('by_mail', '=', true)
    .where('created_at', '>', new Date(at.getTime() - GIVE_UP_MS))
    .orderBy('seq', 'desc')
    .limit(MAX_LISTED + MAX_COUNTED)
    .execute()
  const mails = await tx.db
    .selectFrom('notification_mails')
    .select(['created_at', 'delivered_at'])
    .where('user_id', '=', user_id)
    .where((eb) => eb.or([eb('created_at', '>', countedSince(at)), eb('delivered_at', 'is', null)]))
    .orderBy('created_at', 'desc')
    .limit(RECENT_MAILS_LIMIT)
    .execute()
  return { pending, mails, canMail: recipient.can_mail, isAtHub: recipient.at_hub }
}

async function writeMail(tx: Tx, { user_id }: Digest, { pending }: DigestInput, urgent: boolean, at: Date) {
  const listedSeqs = pending.slice(0, MAX_LISTED).map(({ seq }) => seq)
  await tx.db
    .insertInto('notification_mails')
    .values({
      id: randomUUID(),
      user_id,
      seqs: listedSeqs.toReversed(),
      more: pending.length - listedSeqs.length,
      urgent,
      created_at: at,
      next_attempt_at: at,
    })
    .execute()
}
