import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { badRequest, conflict, notFound } from '../../core/errors/errors.ts'
import { credentialOf } from '../../core/permissions/authorization.ts'
import type { Caller } from '../../core/permissions/caller.ts'
import { isId } from './scim-messages.ts'

const SECRET_PURPOSE = 'organization-sign-in-client'

export interface SignInInput {
  readonly issuer: string
  readonly client_id: string
  /** Missing: the one of before. */
  readonly client_secret?: string | undefined
  readonly scopes: readonly string[]
  readonly groups_claim: string
  readonly creates_members: boolean
  readonly enforced: boolean
  readonly session_hours: number
}

/** The provider of an organization, for a sign-in. */
export interface OrganizationProvider {
  readonly organizationId: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
  /** Changes with the settings. */
  readonly version: string
}

/** Reads the metadata of a provider, and returns the issuer that they name. @throws 400, 409 */
export type Discover = (provider: { readonly issuer: string; readonly clientId: string }) => Promise<string>

/** Creates the service of the settings with which members of organizations sign in. */
export function createSignInSettings(
  deps: Pick<CoreServices, 'db' | 'transact' | 'bus' | 'now' | 'secrets'> & {
    /** The issuer of the platform, which no organization can have. */
    readonly platformIssuer: string
  },
) {
  const { db, transact, bus, now, secrets, platformIssuer } = deps

  const rows = (from = db) =>
    from
      .selectFrom('organization_sign_ins')
      .innerJoin('organizations', 'organizations.id', 'organization_sign_ins.organization_id')
      .selectAll('organization_sign_ins')
      .select('organizations.session_hours')

  function publishLoss(userIds: readonly string[]): void {
    for (const userId of userIds) bus.publish('permissions.lost', { userId, suspended: false })
  }

  return {
    /** Returns the settings; undefined without single sign-on. */
    get: (organizationId: string) => rows().where('organization_id', '=', organizationId).executeTakeFirst(),

    /**
     * Saves the settings. Another issuer or client ends all sign-ins, and has to be used by an owner before it can be enforced.
     * @throws 400 without a secret for another issuer or client, 409
     */
    async save(caller: Caller, organizationId: string, input: SignInInput, discover: Discover) {
      const issuer = await discover({ issuer: input.issuer, clientId: input.client_id })
      const withoutSlash = (text: string) => text.replace(/\/$/, '')
      if (withoutSlash(issuer) === withoutSlash(platformIssuer))
        throw conflict('issuer_taken', 'The issuer is that of the platform.')
      const affected = await transact(async (tx) => {
        // Concurrent requests wait for each other here.
        await sql`select from organizations where id = ${organizationId} for no key update`.execute(tx.db)
        const known = await rows(tx.db).where('organization_id', '=', organizationId).executeTakeFirst()
        const isOther = known?.issuer !== issuer || known.client_id !== input.client_id
        // The secret of one provider must not be sent to another one.
        if (isOther && input.client_secret === undefined)
          throw badRequest(
            'client_secret: must be given for another issuer or client',
            'client_secret_required',
          )
        if (input.enforced && (isOther || known.owner_signed_in_at === null))
          throw conflict(
            'sign_in_not_used',
            'Save without enforcing it, and have an owner sign in with the provider first.',
          )
        const domain = await tx.db
          .selectFrom('organization_domains')
          .select('id')
          .where('organization_id', '=', organizationId)
          .where('verified_at', 'is not', null)
          .executeTakeFirst()
        if (!domain) throw conflict('domain_required', 'Verify a domain of the organization first.')
        const ended = isOther ? await endSignIns(tx.db, organizationId) : []
        const { session_hours, client_secret, ...settings } = input
        const values = {
          ...settings,
          issuer,
          scopes: [...input.scopes],
          ...(client_secret !== undefined && {
            client_secret: secrets.seal(SECRET_PURPOSE, client_secret, organizationId),
          }),
          ...(isOther && { owner_signed_in_at: null }),
          updated_at: now(),
        }
        if (known)
          await tx.db
            .updateTable('organization_sign_ins')
            .set(values)
            .where('organization_id', '=', organizationId)
            .execute()
        else
          await tx.db
            .insertInto('organization_sign_ins')
            .values({ client_secret: '', ...values, organization_id: organizationId, created_at: now() })
            .execute()
        await tx.db
          .updateTable('organizations')
          .set({ session_hours })
          .where('id', '=', organizationId)
          .execute()
        // A shorter time holds for who is signed in, too.
        await sql`update sign_in_sessions
          set expires_at = least(expires_at, sign_in_sessions.created_at + ${session_hours} * interval '1 hour')
          from organization_identities identity
          where identity.id = identity_id and identity.organization_id = ${organizationId}`.execute(tx.db)
        await audit(tx, {
          at: now(),
          organizationId,
          actorId: caller.userId,
          credential: credentialOf(caller),
          action: 'sign_in.configured',
          subject: ['organization', organizationId],
          data: { ...settings, issuer, session_hours, client_secret_changed: client_secret !== undefined },
        })
        return input.enforced && !known?.enforced
          ? [...ended, ...(await othersThanOwners(tx.db, organizationId))]
          : ended
      })
      publishLoss(affected)
    },

    /** Turns single sign-on off, and ends all sign-ins. Members stay. @throws 404 */
    async remove(caller: Caller, organizationId: string): Promise<void> {
      const ended = await transact(async (tx) => {
        const userIds = await endSignIns(tx.db, organizationId)
        const removed = await tx.db
          .deleteFrom('organization_sign_ins')
          .where('organization_id', '=', organizationId)
          .returning('issuer')
          .executeTakeFirst()
        if (!removed) throw notFound('Single sign-on', 'sign_in_not_configured')
        await audit(tx, {
          at: now(),
          organizationId,
          actorId: caller.userId,
          credential: credentialOf(caller),
          action: 'sign_in.removed',
          subject: ['organization', organizationId],
          data: { issuer: removed.issuer },
        })
        return userIds
      })
      publishLoss(ended)
    },

    /** Returns the provider of an organization. @throws 404, for an unknown organization, too */
    async provider(organizationId: string): Promise<OrganizationProvider> {
      const row = isId(organizationId)
        ? await rows().where('organization_id', '=', organizationId).executeTakeFirst()
        : undefined
      if (!row) throw notConfigured()
      const clientSecret = secrets.open(SECRET_PURPOSE, row.client_secret, row.organization_id)
      if (clientSecret === undefined) throw new Error('the secret of a provider is sealed with another key')
      return {
        organizationId: row.organization_id,
        issuer: row.issuer,
        clientId: row.client_id,
        clientSecret,
        scopes: row.scopes,
        version: row.updated_at.toISOString(),
      }
    },

    /**
     * Returns the organization with single sign-on that has verified the domain of an address. Domains are public; the address itself
     * is not looked up.
     * @throws 404
     */
    async organizationOf(email: string): Promise<string> {
      const found = await db
        .selectFrom('organization_domains as domain')
        .innerJoin('organization_sign_ins as own', 'own.organization_id', 'domain.organization_id')
        .select('own.organization_id')
        .where('domain.domain', '=', domainOf(email))
        .where('domain.verified_at', 'is not', null)
        .executeTakeFirst()
      if (!found) throw notConfigured()
      return found.organization_id
    },
  }

  /** Ends who is signed in, and returns the users. A trigger changes their permissions. */
  async function endSignIns(from: typeof db, organizationId: string): Promise<string[]> {
    const ended = await from
      .deleteFrom('organization_identities')
      .where('organization_id', '=', organizationId)
      .returning('user_id')
      .execute()
    return ended.map(({ user_id }) => user_id)
  }

  async function othersThanOwners(from: typeof db, organizationId: string): Promise<string[]> {
    const members = await from
      .selectFrom('organization_members')
      .select('user_id')
      .where('organization_id', '=', organizationId)
      .where('role', '<>', 'owner')
      .execute()
    return members.map(({ user_id }) => user_id)
  }
}
export type SignInSettings = ReturnType<typeof createSignInSettings>

/** Returns the domain of an address, in lower case. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase()

const notConfigured = () =>
  notFound('Single sign-on of this organization or domain', 'sign_in_not_configured')
