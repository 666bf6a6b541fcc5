import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { z } from 'zod'
import { inBatches } from '../../core/database/in-batches.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { Attempt, Queue } from '../../core/jobs/queue.ts'
import { PRESENCE_TTL_SECONDS } from '../identity/index.ts'
import { countedSince, type DigestInput, decide, GIVE_UP_MS } from './digest-policy.ts'
import { NOTIFICATION_MAILS, URGENT_PRIORITY } from './mail.service.ts'
import { hasAddress, isSuspended, MAILED_WHILE_SUSPENDED, wantsMail, wantsPush } from './preferences.ts'
import { heldUntil } from './quiet-hours.ts'

/** Maximum number of notifications in a mail. The mail only counts older ones. */
const MAX_LISTED = 20
/** Maximum number of older notifications that are counted. */
const MAX_COUNTED = 500
/** Maximum number of recent mails of a user that are read. It exceeds the number that the limits can count. */
const RECENT_MAILS_LIMIT = 50
/** Delivered mails are retained for this long, so that operators of the platform can answer questions about them. */
const RETENTION_MS = 24 * 3_600_000
const REMOVED_PER_BATCH = 5_000

const DigestJob = z.strictObject({ userId: z.uuid() })
type DigestJob = z.infer<typeof DigestJob>

/** The queue of decisions whether to mail a user's unread notifications. */
export const NOTIFICATION_DIGESTS: Queue<DigestJob> = {
  name: 'notification-digests',
  description: 'Decides whether to mail the unread notifications of a user',
  data: DigestJob,
  order: 'any',
  concurrency: 4,
  pollMs: 1_000,
  retry: { limit: 'unlimited', delaySeconds: 5, maxDelaySeconds: 300 },
  expireSeconds: 60,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 600,
}

interface Digest {
  readonly user_id: string
  readonly from_seq: number
}

/**
 * Writes mails for unread notifications. The job that deletes a user's row of `notification_digests` writes their mail in
 * the same transaction, so no mail is written twice.
 */
export function createDigests(deps: { transact: Transact; now: () => Date }) {
  const { transact, now } = deps

  return {
    /** Decides about the digest of a user. Without a due digest it does nothing: another job exists for a later time. */
    decide: ({ data: { userId } }: Attempt<DigestJob>): Promise<void> =>
      transact(async (tx) => {
        const at = now()
        const digest = await lockDueDigest(tx, userId, at)
        if (!digest) return
        const input = await loadDigestInput(tx, digest, at)
        const decision = decide(at, input)
        if (decision.kind === 'later') return await postpone(tx, digest, decision.at)
        await tx.db.deleteFrom('notification_digests').where('user_id', '=', userId).execute()
        if (decision.kind === 'mail') await writeMail(tx, digest, input, decision.urgent, at)
      }),

    /** Deletes mails that were delivered more than a day ago. */
    removeDelivered: () => inBatches(REMOVED_PER_BATCH, removeDeliveredBatch),
  }

  /** Returns the number of removed mails. */
  function removeDeliveredBatch(): Promise<number> {
    return transact(async (tx) => {
      const { numDeletedRows } = await tx.db
        .deleteFrom('notification_mails')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('notification_mails')
            .select('id')
            .where('delivered_at', '<', new Date(now().getTime() - RETENTION_MS))
            .orderBy('delivered_at')
            .limit(REMOVED_PER_BATCH),
        )
        .executeTakeFirst()
      return Number(numDeletedRows)
    })
  }
}

/** Locks a user's digest if it is due. */
const lockDueDigest = (tx: Tx, userId: string, at: Date): Promise<Digest | undefined> =>
  tx.db
    .selectFrom('notification_digests')
    .select(['user_id', 'from_seq'])
    .where('user_id', '=', userId)
    .where('due_at', '<=', at)
    .forUpdate()
    .executeTakeFirst()

async function postpone(tx: Tx, { user_id: userId }: Digest, dueAt: Date): Promise<void> {
  await tx.db
    .updateTable('notification_digests')
    .set({ due_at: dueAt })
    .where('user_id', '=', userId)
    .execute()
  tx.enqueue({ queue: NOTIFICATION_DIGESTS, data: { userId }, startAt: dueAt })
}

async function loadDigestInput(tx: Tx, { user_id, from_seq }: Digest, at: Date): Promise<DigestInput> {
  const recipient = await tx.db
    .selectFrom('users')
    .leftJoin('user_presence as presence', 'presence.user_id', 'users.id')
    .leftJoin('notification_settings as settings', 'settings.user_id', 'users.id')
    .select(['settings.quiet_hours', isSuspended.as('is_suspended')])
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
    .$if(recipient.is_suspended, (query) => query.where('type', 'in', MAILED_WHILE_SUSPENDED))
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
  const holds = pending.map(({ type }) => heldUntil(recipient.quiet_hours, type, at))
  return {
    pending,
    mails,
    canMail: recipient.can_mail,
    isAtHub: recipient.at_hub,
    // A mail that includes one notification that may pass includes all others, too.
    heldUntil: holds.every((hold) => hold !== undefined) ? holds[0] : undefined,
  }
}

async function writeMail(tx: Tx, { user_id }: Digest, { pending }: DigestInput, urgent: boolean, at: Date) {
  const listedSeqs = pending.slice(0, MAX_LISTED).map(({ seq }) => seq)
  const id = randomUUID()
  await tx.db
    .insertInto('notification_mails')
    .values({
      id,
      user_id,
      seqs: listedSeqs.toReversed(),
      more: pending.length - listedSeqs.length,
      urgent,
      created_at: at,
      next_attempt_at: at,
    })
    .execute()
  tx.enqueue({ queue: NOTIFICATION_MAILS, data: { id }, priority: urgent ? URGENT_PRIORITY : 0 })
}
