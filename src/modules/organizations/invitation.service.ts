import { randomUUID } from 'node:crypto'
import { permissions } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import { AppError, conflict, notFound, uniqueViolation } from '../../core/errors/errors.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import type { Queue } from '../../core/jobs/queue.ts'
import { createMailDelivery, type MailJob, mailQueue } from '../../core/mail/mail-delivery.ts'
import type { Mail, Mailer } from '../../core/mail/mailer.ts'
import type { CreateInvitation, InvitationView, ReceivedInvitation } from './organization.schema.ts'
import {
  organizationEvent,
  requireGroups,
  requireMayGive,
  requireMembershipCapacity,
} from './organization.service.ts'

const PURPOSE = 'organization-invitation'
const LIFETIME_MS = 7 * 86_400_000
/** Open invitations of an organization. */
const MAX_OPEN = 200
const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.([\w-]{43}))?$/

/** The queue of mails with invitations. */
export const INVITATION_MAILS: Queue<MailJob> = {
  ...mailQueue,
  name: 'invitation-mails',
  description: 'Mails an invitation to an organization',
}

/**
 * Invites people to organizations. The token of an invitation is only in its mail; a person with the invited address, verified, finds the
 * invitation in the console, too.
 */
export function createInvitations(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'log' | 'secrets' | 'baseUrl' | 'bus'>,
) {
  const { db, transact, now, secrets, baseUrl, bus } = deps
  const tokenOf = (id: string) => `${id}.${secrets.sign(PURPOSE, id)}`
  const isOpen = () => sql<boolean>`accepted_at is null and expires_at > ${now()}::timestamptz`

  return {
    /** @throws 409 for an address with an open invitation, or of a member */
    async create(caller: Caller, organizationId: string, invited: CreateInvitation) {
      const { email, role, groupIds } = invited
      requireMayGive(caller, role)
      const at = now()
      return await transact(async (tx) => {
        await requireGroups(tx, organizationId, groupIds)
        // Locks the organization, so that concurrent requests cannot exceed the limit.
        await tx.db
          .selectFrom('organizations')
          .select('id')
          .where('id', '=', organizationId)
          .forNoKeyUpdate()
          .execute()
        const member = await tx.db
          .selectFrom('organization_members as member')
          .innerJoin('users', 'users.id', 'member.user_id')
          .select('users.id')
          .where('member.organization_id', '=', organizationId)
          .where('users.email_verified', '=', true)
          .where(sql<boolean>`lower(users.email collate "C") = lower(${email} collate "C")`)
          .executeTakeFirst()
        if (member) throw conflict('already_member', 'email: this person is a member already.')
        // An expired one makes room.
        await tx.db
          .deleteFrom('organization_invitations')
          .where('organization_id', '=', organizationId)
          .where('accepted_at', 'is', null)
          .where('expires_at', '<=', at)
          .execute()
        const { count } = await tx.db
          .selectFrom('organization_invitations')
          .select(sql<number>`count(*)::int`.as('count'))
          .where('organization_id', '=', organizationId)
          .where('accepted_at', 'is', null)
          .executeTakeFirstOrThrow()
        if (count >= MAX_OPEN)
          throw conflict(
            'organization_limit_reached',
            `An organization can have ${MAX_OPEN} open invitations.`,
          )
        const row = await tx.db
          .insertInto('organization_invitations')
          .values({
            id: randomUUID(),
            organization_id: organizationId,
            email,
            role,
            group_ids: role === 'owner' ? null : groupIds && [...groupIds],
            invited_by_id: caller.userId,
            created_at: at,
            expires_at: new Date(at.getTime() + LIFETIME_MS),
            next_attempt_at: at,
          })
          .returning(['id', 'email', 'role', 'expires_at'])
          .executeTakeFirstOrThrow()
          .catch((cause) => {
            if (uniqueViolation(cause) !== 'one_open_invitation_per_address') throw cause
            throw conflict(
              'invitation_exists',
              'email: this address has an open invitation. Revoke it first.',
            )
          })
        tx.enqueue({ queue: INVITATION_MAILS, data: { id: row.id } })
        await audit(
          tx,
          organizationEvent(caller, at, 'member.invited', organizationId, { invitation: row.id, role }),
        )
        return { ...row, expires_at: iso(row.expires_at) }
      })
    },

    async list(organizationId: string): Promise<InvitationView[]> {
      const rows = await db
        .selectFrom('organization_invitations')
        .select(['id', 'email', 'role', 'group_ids', 'created_at', 'expires_at', 'delivered_at'])
        .where('organization_id', '=', organizationId)
        .where(isOpen())
        .orderBy('created_at', 'desc')
        .limit(MAX_OPEN)
        .execute()
      return rows.map((row) => ({
        ...row,
        created_at: iso(row.created_at),
        expires_at: iso(row.expires_at),
        delivered_at: iso(row.delivered_at),
      }))
    },

    revoke: (caller: Caller, organizationId: string, id: string): Promise<void> =>
      transact(async (tx) => {
        const revoked = await tx.db
          .deleteFrom('organization_invitations')
          .where('id', '=', id)
          .where('organization_id', '=', organizationId)
          .where('accepted_at', 'is', null)
          .returning('id')
          .executeTakeFirst()
        if (!revoked) throw notFound('Invitation')
        const data = { invitation: id }
        await audit(tx, organizationEvent(caller, now(), 'invitation.revoked', organizationId, data))
      }),

    /** Returns the open invitations to the verified address of a user. */
    async received(userId: string): Promise<ReceivedInvitation[]> {
      const rows = await db
        .selectFrom('organization_invitations as invitation')
        .innerJoin('users', (join) =>
          join
            .on('users.id', '=', userId)
            .on('users.email_verified', '=', true)
            .on(sql<boolean>`lower(users.email collate "C") = lower(invitation.email collate "C")`),
        )
        .innerJoin('organizations', 'organizations.id', 'invitation.organization_id')
        .select(['invitation.id', 'organizations.name as organization_name', 'invitation.role'])
        .select('invitation.expires_at')
        .where('invitation.accepted_at', 'is', null)
        .where('invitation.expires_at', '>', now())
        .orderBy('invitation.created_at', 'desc')
        .limit(MAX_OPEN)
        .execute()
      return rows.map((row) => ({ ...row, expires_at: iso(row.expires_at) }))
    },

    /**
     * Makes a user a member. Of several concurrent calls exactly one succeeds.
     * @param token that of the mail or, if the invitation is to the verified address of the user, its id
     * @returns the id of the organization
     * @throws 404 for an invitation that is unknown, expired, used or revoked; 409 for a member
     */
    async accept(caller: Caller, token: string): Promise<string> {
      const [, id, signature] = TOKEN.exec(token) ?? []
      if (id === undefined || (signature !== undefined && !secrets.verify(PURPOSE, id, signature)))
        throw invalid()
      const at = now()
      const organizationId = await transact(async (tx) => {
        const accepted = await tx.db
          .updateTable('organization_invitations as invitation')
          .set({ accepted_at: at })
          .where('invitation.id', '=', id)
          .where('invitation.accepted_at', 'is', null)
          .where('invitation.expires_at', '>', at)
          .where(mayStillInvite)
          .where(isNotDeactivated(caller.userId))
          .$if(signature === undefined, (query) =>
            query.where(({ exists, selectFrom }) =>
              exists(
                selectFrom('users')
                  .select('users.id')
                  .where('users.id', '=', caller.userId)
                  .where('users.email_verified', '=', true)
                  .where(sql<boolean>`lower(users.email collate "C") = lower(invitation.email collate "C")`),
              ),
            ),
          )
          .returning(['organization_id', 'role', 'group_ids'])
          .executeTakeFirst()
        if (!accepted) throw invalid()
        await requireMembershipCapacity(tx, caller.userId)
        const { organization_id, role, group_ids } = accepted
        const added = await tx.db
          .insertInto('organization_members')
          .values({ organization_id, user_id: caller.userId, role, group_ids, created_at: at })
          .onConflict((known) => known.columns(['organization_id', 'user_id']).doNothing())
          .returning('user_id')
          .executeTakeFirst()
        if (!added) throw conflict('already_member', 'You are a member of this organization already.')
        await audit(
          tx,
          organizationEvent(caller, at, 'member.joined', organization_id, { role, invitation: id }),
        )
        return organization_id
      })
      bus.publish('permissions.lost', { userId: caller.userId, suspended: false })
      return organizationId
    },

    /** Returns the handler that sends the mails. */
    delivery: (mailer: Mailer) =>
      createMailDelivery({
        ...deps,
        table: 'organization_invitations',
        mailer,
        idName: 'invitationId',
        compose: async (row) => await mailOf(row, mailer.domain),
      }),
  }

  async function mailOf(
    row: Selectable<Tables['organization_invitations']>,
    domain: string,
  ): Promise<Mail | undefined> {
    if (row.accepted_at !== null || row.expires_at <= now()) return undefined
    const { name, inviter } = await db
      .selectFrom('organizations')
      .leftJoin('users', (join) => join.on('users.id', '=', row.invited_by_id))
      .select(['organizations.name', 'users.display_name as inviter'])
      .where('organizations.id', '=', row.organization_id)
      .executeTakeFirstOrThrow()
    return {
      to: row.email,
      subject: `Invitation to ${name} on Wheelhouse`,
      text: [
        `${inviter ?? 'A member'} invites you to the organization ${name}, as ${row.role}.`,
        '',
        'Accept the invitation here. The link works once, and for seven days:',
        // Behind #, so that no server and no log on the way gets it.
        `${baseUrl}/dashboard/invitation#${tokenOf(row.id)}`,
        '',
        'If you do not know who sent it, ignore this mail.',
        '',
      ].join('\n'),
      messageId: `<invitation-${row.id}@${domain}>`,
    }
  }
}
export type Invitations = ReturnType<typeof createInvitations>

/** The condition that who has sent the invitation may still give the role. */
const mayStillInvite = sql<boolean>`exists (
  select from organization_members as inviter
  where inviter.organization_id = invitation.organization_id and inviter.user_id = invitation.invited_by_id
    and inviter.group_ids is null and inviter.role = any(${[...permissions['members.manage'].roles]}::text[])
    and (invitation.role <> 'owner' or inviter.role = 'owner'))`

/** The condition that the identity provider of the organization has not deactivated a person. */
const isNotDeactivated = (userId: string) => sql<boolean>`not exists (
  select from scim_users as provisioned
  where provisioned.organization_id = invitation.organization_id and not provisioned.active
    and (provisioned.user_id = ${userId}::uuid
      or lower(provisioned.user_name collate "C") = lower(invitation.email collate "C")))`

const invalid = () =>
  new AppError(
    404,
    'invitation_invalid',
    'The invitation is unknown, has expired, was used or was revoked. Ask for another one.',
  )
