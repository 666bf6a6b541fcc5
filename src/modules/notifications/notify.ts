import { type OrganizationRole, permissions } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { compiled } from '../../core/database/compiled.ts'
import type { NewNotification } from '../../core/events/new-notification.ts'
import type { Tx, WriteNotifications } from '../../core/events/transactor.ts'
import { NOTIFICATION_DIGESTS } from './digest.service.ts'
import { mailDueAt } from './digest-policy.ts'
import { cellOf, hasAddress, hasBrowser, isOn, wantsMail, wantsPush } from './preferences.ts'
import { NOTIFICATION_PUSHES } from './push/push-queues.ts'

/** A digest that has been due for this long has no job any more, for example because an admin discarded it. */
const FORGOTTEN_SECONDS = 600
/** Members of one organization that a notification reaches. */
const MAX_RECIPIENTS = 200

interface UserNotification extends Pick<NewNotification, 'type' | 'data'> {
  readonly userId: string
  /** Whether the user caused it. The user then gets no mail about it. */
  readonly causedByUser: boolean
}

interface Values extends Omit<UserNotification, 'causedByUser'> {
  readonly at: Date
  /** Whether it may reach the user by mail and browser push. */
  readonly away: boolean
  readonly mailDueAt: Date
  readonly mailCell: string
  readonly inAppCell: string
  readonly pushCell: string
}

/**
 * Increments the user's counter, which locks the user's row, and inserts the notification with that number. For a user
 * who wants mail and has a verified address, it also inserts or updates the digest. `from_seq` stays at the first
 * notification that is not mailed yet.
 */
const insertNext = compiled<Values>()((db, param) =>
  db
    .with('counted', (cte) =>
      cte
        .updateTable('users')
        .set((eb) => ({
          notification_seq: eb('notification_seq', '+', 1),
          notification_unread: eb('notification_unread', '+', 1),
        }))
        .where('id', '=', param('userId'))
        .returning(['id', 'notification_seq'])
        .returning([
          sql<boolean>`${param('away')}::boolean and ${hasAddress} and ${wantsMail}
            and ${isOn(sql`${param('mailCell')}`)}`.as('by_mail'),
          sql<boolean>`${wantsPush} and ${isOn(sql`${param('inAppCell')}`)}`.as('push'),
          sql<boolean>`${param('away')}::boolean and ${wantsPush} and ${hasBrowser}
            and ${isOn(sql`${param('pushCell')}`)}`.as('by_push'),
        ]),
    )
    .with('queued', (cte) =>
      cte
        .insertInto('notification_digests')
        .columns(['user_id', 'from_seq', 'due_at'])
        .expression((eb) =>
          eb
            .selectFrom('counted')
            .select(['id', 'notification_seq'])
            .select(sql<Date>`${param('mailDueAt')}::timestamptz`.as('due_at'))
            .where('by_mail', '=', true),
        )
        // Always updates: the row lock ensures that the worker that writes the mail sees this notification.
        .onConflict((conflict) =>
          conflict.column('user_id').doUpdateSet({
            due_at: sql<Date>`case
              when notification_digests.due_at < ${param('at')}::timestamptz - ${FORGOTTEN_SECONDS} * interval '1 second'
              then excluded.due_at
              else least(notification_digests.due_at, excluded.due_at) end`,
          }),
        )
        .returning('due_at'),
    )
    .insertInto('notifications')
    .columns(['user_id', 'seq', 'type', 'data', 'created_at', 'by_mail', 'by_push'])
    .expression((eb) =>
      eb
        .selectFrom('counted')
        .select(['id', 'notification_seq'])
        .select([
          sql<string>`${param('type')}::text`.as('type'),
          sql<Record<string, unknown>>`${param('data')}::jsonb`.as('data'),
          sql<Date>`${param('at')}::timestamptz`.as('at'),
        ])
        .select(['by_mail', 'by_push']),
    )
    .returning((eb) => [
      'seq',
      'by_push',
      eb.selectFrom('counted').select('push').as('push'),
      eb.selectFrom('queued').select('due_at').as('digest_due_at'),
    ]),
)

/**
 * Selects the members of an organization who may perform an action, and who get its notifications: in the order of the roles, which
 * begins with owners and admins, so that a large organization leaves out others. Programs have no inbox.
 */
const findRecipients = compiled<{
  organizationId: string
  roles: readonly string[]
  robotId: string | null
}>()((db, param) =>
  db
    .selectFrom('organization_members as member')
    .select('member.user_id')
    .where('member.organization_id', '=', param('organizationId'))
    .where('member.role', '=', sql<OrganizationRole>`any(${param('roles')}::text[])`)
    .where(
      sql<boolean>`not exists (select from users where users.id = member.user_id and users.service_of_id is not null)`,
    )
    .where((eb) =>
      eb.or([
        eb('member.group_ids', 'is', null),
        sql<boolean>`(select robots.group_id from robots where robots.id = ${param('robotId')}::uuid) = any(member.group_ids)`,
      ]),
    )
    .orderBy(sql`array_position(${param('roles')}::text[], member.role)`)
    .orderBy('member.user_id')
    .limit(MAX_RECIPIENTS),
)

/** Returns the notifications of the users who get one. */
async function recipientsOf(tx: Tx, notification: NewNotification): Promise<UserNotification[]> {
  const { type, data, actorId, exceptActor } = notification
  const userIds =
    'userId' in notification
      ? [notification.userId]
      : (
          await findRecipients(tx.db, {
            organizationId: notification.organizationId,
            roles: permissions[notification.action ?? 'sessions.manage'].roles,
            robotId: notification.robotId ?? null,
          })
        ).map(({ user_id }) => user_id)
  return userIds
    .filter((userId) => !(exceptActor && userId === actorId))
    .map((userId) => ({ userId, type, data, causedByUser: userId === actorId }))
}

/**
 * Writes notifications in the caller's transaction. It locks users in the order of their ids, so that two
 * transactions that notify the same two users cannot deadlock. The hub pushes them unless a user turned
 * pop-ups off, for all types or for this one.
 */
export const writeNotifications: WriteNotifications = async (tx, at, notifications) => {
  const wanted: UserNotification[] = []
  for (const notification of notifications)
    for (const one of await recipientsOf(tx, notification))
      if (!wanted.some(({ userId, data }) => userId === one.userId && data === one.data)) wanted.push(one)
  for (const { userId, type, data, causedByUser } of wanted.toSorted(byUser)) {
    const values = {
      userId,
      type,
      data,
      at,
      away: !causedByUser,
      mailDueAt: mailDueAt(type, at),
      mailCell: cellOf(type, 'mail'),
      inAppCell: cellOf(type, 'in_app'),
      pushCell: cellOf(type, 'push'),
    }
    const [written] = await insertNext(tx.db, values)
    if (!written) throw new Error('The user to notify does not exist')
    // A later time means that the digest was due earlier already, and has a job.
    const dueAt = written.digest_due_at
    if (dueAt && dueAt.getTime() === values.mailDueAt.getTime())
      tx.enqueue({ queue: NOTIFICATION_DIGESTS, data: { userId }, startAt: dueAt })
    if (written.by_push) tx.enqueue({ queue: NOTIFICATION_PUSHES, data: { userId, seq: written.seq } })
    // A user who turned push off can still have webhooks and event streams.
    tx.publish(written.push ? 'notification' : 'notification.quiet', {
      user_id: userId,
      notification: { id: String(written.seq), type, data, created_at: at.toISOString() },
    })
  }
}

const byUser = (a: UserNotification, b: UserNotification) => (a.userId < b.userId ? -1 : 1)
