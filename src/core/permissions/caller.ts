import type { ApiKeyScope, OrganizationRole, Role } from '@wheelhouse/protocol'

/** What a caller is in the organization that the request acts for. */
export interface Membership {
  /** Id of the organization. The personal organization of a user has the id of the user. */
  readonly id: string
  readonly role: OrganizationRole
  /** The groups whose robots the member may see; null for all robots. */
  readonly groupIds: readonly string[] | null
}

/** The authenticated user and credential of a request. */
export interface Caller {
  readonly userId: string
  readonly displayName: string
  /** Whether it is a service account, which has no sign-in, profile or inbox. */
  readonly isProgram?: boolean
  /** What the user may be: of the platform, and of the organization that the request acts for. */
  readonly roles: readonly Role[]
  /** The organization that the request acts for. */
  readonly organization: Membership
  /** Changes whenever the roles, memberships or certifications of the user change. */
  readonly permissionsVersion: number
  readonly credential:
    | {
        readonly kind: 'session'
        readonly expiresAt: Date
        readonly token: string
        readonly fromCookie: boolean
        /** Of a person who signed in with the provider of an organization, not with that of the platform. */
        readonly signIn?: SignIn
      }
    | {
        readonly kind: 'api_key'
        readonly id: string
        readonly expiresAt: Date | null
        /** Null: all scopes. */
        readonly scopes: readonly ApiKeyScope[] | null
      }
}

/** A sign-in with the provider of an organization. */
export interface SignIn {
  readonly id: string
  readonly organizationId: string
}

/** Reads what users are in organizations. The organizations module implements it. */
export interface Memberships {
  /**
   * @param session of a person who is signed in, with what; undefined for a key, which belongs to the organization
   * @throws 404 for a user who is no member, as for an unknown organization; 403 for a sign-in that does not count there
   */
  of(
    userId: string,
    organizationId: string,
    session?: { readonly signIn: SignIn | undefined },
  ): Promise<Membership>
}

/** Returns the membership that every user has in the own personal organization. */
export const ownMembership = (userId: string): Membership => ({ id: userId, role: 'owner', groupIds: null })
