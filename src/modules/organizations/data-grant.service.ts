import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { iso } from '../../core/database/iso.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import { badRequest, conflict, notFound, uniqueViolation } from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import type { CreateDataGrant, DataGrantView } from './data-grant.schema.ts'

/** Grants that an organization may have given, and may have received. Every list of recordings and datasets reads the latter. */
const MAX_GRANTS = 500
/** Expired grants that one statement ends. */
const EXPIRED_PER_STATEMENT = 100

const isValid = sql<boolean>`("grant".expires_at is null or "grant".expires_at > now())`

type GrantRow = Selectable<Tables['data_grants']>

const selectGrants = (db: Db) =>
  db
    .selectFrom('data_grants as grant')
    .innerJoin('robots', 'robots.id', 'grant.robot_id')
    .innerJoin('organizations as giver', 'giver.id', 'grant.organization_id')
    .innerJoin('organizations as reader', 'reader.id', 'grant.to_organization_id')
    .selectAll('grant')
    .select(['robots.name as robot_name', 'giver.name as organization_name'])
    .select('reader.name as to_organization_name')
    .orderBy('grant.created_at', 'desc')
    .orderBy('grant.id', 'desc')
    .limit(MAX_GRANTS)

/** Grants other organizations access to the data of robots, and ends it. What the access includes is `grantedTo`. */
export function createDataGrants(deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'bus'>) {
  const { db, transact, now, bus } = deps

  /**
   * Has every process look for members who lost access: a trigger has raised their `permissions_version`. A personal organization has
   * the id of its only member.
   */
  const announce = (toOrganizationId: string) =>
    bus.publish('permissions.lost', { userId: toOrganizationId, suspended: false })

  const noteEnd = (tx: Tx, action: string, grant: GrantRow, actorId?: string) =>
    audit(tx, {
      at: now(),
      actorId,
      action,
      subject: ['robot', grant.robot_id],
      data: { grant_id: grant.id, to_organization_id: grant.to_organization_id },
    })

  async function requireCapacity(tx: Tx, column: 'organization_id' | 'to_organization_id', id: string) {
    const { count } = await tx.db
      .selectFrom('data_grants')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(column, '=', id)
      .executeTakeFirstOrThrow()
    if (Number(count) >= MAX_GRANTS)
      throw conflict(
        'organization_limit_reached',
        `An organization can give ${MAX_GRANTS} grants, and have as many. Revoke one first.`,
      )
  }

  async function insert(tx: Tx, scope: Scope, input: CreateDataGrant): Promise<string> {
    const { robot_id, to_organization_id, expires_at } = input
    // The order of the ids, so that two organizations that grant each other something do not wait for each other.
    const organizations = await tx.db
      .selectFrom('organizations')
      .leftJoin('users', 'users.id', 'organizations.id')
      .select('organizations.id')
      .where('organizations.id', 'in', [scope.organizationId, to_organization_id])
      .where('users.deleted_at', 'is', null)
      .orderBy('organizations.id')
      .forNoKeyUpdate('organizations')
      .execute()
    if (!organizations.some(({ id }) => id === to_organization_id)) throw notFound('Organization')
    const robot = await tx.db
      .selectFrom('robots')
      .select('id')
      .where('id', '=', robot_id)
      .where(ownedBy(scope))
      .where('deleted_at', 'is', null)
      .forKeyShare()
      .executeTakeFirst()
    if (!robot) throw notFound('Robot')
    await requireCapacity(tx, 'organization_id', scope.organizationId)
    await requireCapacity(tx, 'to_organization_id', to_organization_id)
    const scopes = [...new Set(input.scopes)]
    const id = randomUUID()
    await tx.db
      .insertInto('data_grants')
      .values({
        id,
        organization_id: scope.organizationId,
        robot_id,
        to_organization_id,
        scopes,
        created_by_id: scope.actorId,
        created_at: now(),
        expires_at: expires_at === null ? null : new Date(expires_at),
      })
      .execute()
    await audit(tx, {
      at: now(),
      organizationId: scope.organizationId,
      actorId: scope.actorId,
      credential: scope.credential,
      action: 'grant.created',
      subject: ['robot', robot_id],
      data: { grant_id: id, to_organization_id, scopes, expires_at },
    })
    return id
  }

  return {
    /**
     * Grants another organization access to data of a robot.
     * @throws 404 for a robot of another organization and for an organization that does not exist, 409 for a second grant
     */
    async create(scope: Scope, input: CreateDataGrant): Promise<DataGrantView> {
      if (input.to_organization_id === scope.organizationId)
        throw badRequest('to_organization_id: must be another organization than your own')
      if (input.expires_at !== null && new Date(input.expires_at) <= now())
        throw badRequest('expires_at: must be in the future')
      try {
        return await transact(async (tx) => {
          const id = await insert(tx, scope, input)
          return view(await selectGrants(tx.db).where('grant.id', '=', id).executeTakeFirstOrThrow())
        })
      } catch (cause) {
        if (uniqueViolation(cause) !== 'one_data_grant_per_robot') throw cause
        throw conflict(
          'grant_exists',
          'The organization already has access to data of this robot. Revoke that grant first.',
        )
      }
    },

    /** Returns the grants that an organization has given and received. */
    async list(organizationId: string) {
      const [given, received] = await Promise.all([
        selectGrants(db).where('grant.organization_id', '=', organizationId).where(isValid).execute(),
        selectGrants(db).where('grant.to_organization_id', '=', organizationId).where(isValid).execute(),
      ])
      return { given: given.map(view), received: received.map(view) }
    },

    /** Revokes a grant at once: what members of the other organization are reading ends. @throws 404 */
    async revoke({ organizationId, actorId }: Scope, id: string): Promise<void> {
      const grant = await transact(async (tx) => {
        const ended = await tx.db
          .deleteFrom('data_grants')
          .where('id', '=', id)
          .where('organization_id', '=', organizationId)
          .returningAll()
          .executeTakeFirst()
        if (!ended) throw notFound('Grant')
        await noteEnd(tx, 'grant.revoked', ended, actorId)
        return ended
      })
      announce(grant.to_organization_id)
    },

    /** Ends the grants whose time has passed. Nobody reads with them any more; this ends what is being read. */
    async endExpired(): Promise<void> {
      const ended = await transact(async (tx) => {
        const grants = await tx.db
          .deleteFrom('data_grants')
          .where('id', 'in', (eb) =>
            eb
              .selectFrom('data_grants')
              .select('id')
              .where('expires_at', '<=', sql<Date>`now()`)
              .orderBy('expires_at')
              .limit(EXPIRED_PER_STATEMENT)
              .forUpdate()
              .skipLocked(),
          )
          .returningAll()
          .execute()
        for (const grant of grants) await noteEnd(tx, 'grant.expired', grant)
        return grants
      })
      for (const id of new Set(ended.map((grant) => grant.to_organization_id))) announce(id)
    },
  }
}
export type DataGrants = ReturnType<typeof createDataGrants>

type NamedGrant = Awaited<ReturnType<ReturnType<typeof selectGrants>['executeTakeFirstOrThrow']>>

const view = (row: NamedGrant): DataGrantView => ({
  id: row.id,
  robot_id: row.robot_id,
  robot_name: row.robot_name,
  organization_id: row.organization_id,
  organization_name: row.organization_name,
  to_organization_id: row.to_organization_id,
  to_organization_name: row.to_organization_name,
  scopes: row.scopes as DataGrantView['scopes'],
  created_at: iso(row.created_at),
  expires_at: iso(row.expires_at),
})
