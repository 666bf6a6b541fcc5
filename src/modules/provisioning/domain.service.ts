import { randomBytes, randomUUID } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import { conflict, notFound, unavailable, uniqueViolation } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Transact } from '../../core/events/transactor.ts'

/** Domains of an organization. */
const MAX_DOMAINS = 20
/** How long a name server may take to answer, and how often it is asked. */
const DNS_TIMEOUT_MS = 2_000
const DNS_TRIES = 2
/** TXT records of a name that are compared. */
const MAX_TXT_RECORDS = 100
/** The label of the TXT record, so that the records of the domain itself stay as they are. */
const TXT_LABEL = '_wheelhouse'

/** Returns the TXT records of a name, each in its parts. */
export type ResolveTxt = (name: string) => Promise<string[][]>

/** Returns the name of the TXT record of a domain. */
export const txtNameOf = (domain: string): string => `${TXT_LABEL}.${domain}`

/** Asks the name servers of this machine. */
const systemResolveTxt: ResolveTxt = (name) =>
  new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES }).resolveTxt(name)

/** Creates the service of domains, which organizations verify with a TXT record. */
export function createDomains(deps: {
  db: Db
  transact: Transact
  bus: Bus
  now: () => Date
  resolveTxt?: ResolveTxt
}) {
  const { db, transact, bus, now, resolveTxt = systemResolveTxt } = deps

  /** Returns whether the TXT record has the value. @throws 503 if no name server answers */
  async function hasRecord(domain: string, value: string): Promise<boolean> {
    try {
      const records = await resolveTxt(txtNameOf(domain))
      return records.slice(0, MAX_TXT_RECORDS).some((parts) => parts.join('') === value)
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
      if (code === 'ENOTFOUND' || code === 'ENODATA') return false
      throw unavailable(
        'dns_unavailable',
        'The name servers of the domain do not answer. Try again later.',
        cause,
      )
    }
  }

  return {
    /** Adds a domain, which is to be verified. @throws 409 */
    add: (organizationId: string, domain: string) =>
      transact(async (tx) => {
        // Concurrent requests wait for each other here, so that they cannot exceed the limit.
        await tx.db
          .selectFrom('organizations')
          .select('id')
          .where('id', '=', organizationId)
          .forNoKeyUpdate()
          .execute()
        const { count } = await tx.db
          .selectFrom('organization_domains')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('organization_id', '=', organizationId)
          .executeTakeFirstOrThrow()
        if (Number(count) >= MAX_DOMAINS)
          throw conflict('organization_limit_reached', `An organization can have ${MAX_DOMAINS} domains.`)
        return await tx.db
          .insertInto('organization_domains')
          .values({
            id: randomUUID(),
            organization_id: organizationId,
            domain,
            txt_value: `wheelhouse-verification=${randomBytes(16).toString('hex')}`,
            created_at: now(),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
      }).catch((cause) => {
        throw uniqueViolation(cause) === 'organization_domains_once'
          ? conflict('domain_exists', 'The organization has this domain already.')
          : cause
      }),

    list: (organizationId: string) =>
      db
        .selectFrom('organization_domains')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('domain')
        .limit(MAX_DOMAINS)
        .execute(),

    /**
     * Verifies a domain by its TXT record. A verified one stays verified.
     * @throws 404, 409 without the record or if another organization has verified the domain, 503
     */
    async verify(organizationId: string, actorId: string, id: string) {
      const known = await db
        .selectFrom('organization_domains')
        .selectAll()
        .where('id', '=', id)
        .where('organization_id', '=', organizationId)
        .executeTakeFirst()
      if (!known) throw notFound('Domain')
      if (known.verified_at !== null) return known
      if (!(await hasRecord(known.domain, known.txt_value)))
        throw conflict(
          'domain_not_verified',
          `${txtNameOf(known.domain)} has no TXT record with the value. A new record can take an hour to arrive.`,
        )
      return await transact(async (tx) => {
        const verified = await tx.db
          .updateTable('organization_domains')
          .set({ verified_at: now() })
          .where('id', '=', id)
          .where('organization_id', '=', organizationId)
          .returningAll()
          .executeTakeFirst()
        if (!verified) throw notFound('Domain') // removed meanwhile
        await audit(tx, {
          at: now(),
          organizationId,
          actorId,
          action: 'domain.verified',
          subject: ['domain', id],
          data: { organization_id: organizationId, domain: verified.domain },
        })
        return verified
      }).catch((cause) => {
        throw uniqueViolation(cause) === 'one_organization_per_domain'
          ? conflict('domain_taken', 'Another organization has verified this domain.')
          : cause
      })
    },

    /** Removes a domain, and ends the sign-ins of addresses in it. Members stay. @throws 404 */
    async remove(organizationId: string, actorId: string, id: string): Promise<void> {
      const ended = await transact(async (tx) => {
        const identities = await tx.db
          .deleteFrom('organization_identities')
          .where('domain_id', '=', id)
          .where('organization_id', '=', organizationId)
          .returning('user_id')
          .execute()
        const removed = await tx.db
          .deleteFrom('organization_domains')
          .where('id', '=', id)
          .where('organization_id', '=', organizationId)
          .returning('domain')
          .executeTakeFirst()
        if (!removed) throw notFound('Domain')
        await audit(tx, {
          at: now(),
          organizationId,
          actorId,
          action: 'domain.removed',
          subject: ['domain', id],
          data: { organization_id: organizationId, domain: removed.domain },
        })
        return identities
      })
      for (const { user_id } of ended) bus.publish('permissions.lost', { userId: user_id, suspended: false })
    },
  }
}
export type Domains = ReturnType<typeof createDomains>
