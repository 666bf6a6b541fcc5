import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'

/** How long a response is stored. */
const RETENTION_MS = 24 * 3_600_000
/** A holder that has neither finished nor had an effect by then counts as dead: its queries time out earlier. */
const LEASE_MS = 30_000
/** Rows that one statement of the clean-up removes. */
const REMOVAL_BATCH = 1_000
/** Statements of one run of the clean-up. The next run removes the remaining rows. */
const REMOVAL_BATCHES = 50

/** A key that one request holds. */
export interface IdempotencyClaim {
  readonly scope: string
  readonly key: string
  readonly claimId: string
}

export type ClaimResult =
  | { readonly outcome: 'mine'; readonly claim: IdempotencyClaim }
  /** The request was answered before. */
  | { readonly outcome: 'answered'; readonly status: number; readonly body: string | null }
  /** Another request holds the key and is still running. */
  | { readonly outcome: 'running' }
  /** The request was executed, but its response was not stored. */
  | { readonly outcome: 'lost' }
  /** The key was used for a different request. */
  | { readonly outcome: 'other' }

/** Creates the store of idempotency keys. Every change is one conditional statement. */
export function createIdempotencyStore(deps: { db: Db; now: () => Date }) {
  const { db, now } = deps
  const expired = () => new Date(now().getTime() - RETENTION_MS)

  /** Claims a key that is new, expired, or held by a request that died before its first effect. */
  async function tryClaim(
    scope: string,
    key: string,
    fingerprint: string,
  ): Promise<IdempotencyClaim | undefined> {
    const at = now()
    const claimId = randomUUID()
    const taken = await db
      .insertInto('idempotency_keys')
      .values({
        scope,
        key,
        fingerprint,
        created_at: at,
        claim_id: claimId,
        claimed_until: new Date(at.getTime() + LEASE_MS),
      })
      .onConflict((conflict) =>
        conflict
          .columns(['scope', 'key'])
          .doUpdateSet((eb) => ({
            fingerprint: eb.ref('excluded.fingerprint'),
            claim_id: eb.ref('excluded.claim_id'),
            claimed_until: eb.ref('excluded.claimed_until'),
            created_at: eb.ref('excluded.created_at'),
            effect_at: null,
            status: null,
            body: null,
          }))
          .where((eb) =>
            eb.or([
              eb('idempotency_keys.created_at', '<=', expired()),
              eb.and([
                eb('idempotency_keys.status', 'is', null),
                eb('idempotency_keys.effect_at', 'is', null),
                eb('idempotency_keys.claimed_until', '<=', at),
              ]),
            ]),
          ),
      )
      .returning('claim_id')
      .executeTakeFirst()
    return taken && { scope, key, claimId }
  }

  const updateClaimed = ({ scope, key, claimId }: IdempotencyClaim) =>
    db
      .updateTable('idempotency_keys')
      .where('scope', '=', scope)
      .where('key', '=', key)
      .where('claim_id', '=', claimId)

  return {
    /** Claims the key for a request, or returns the state of the request that holds it. */
    async claim(scope: string, key: string, fingerprint: string): Promise<ClaimResult> {
      const claim = await tryClaim(scope, key, fingerprint)
      if (claim) return { outcome: 'mine', claim }
      const held = await db
        .selectFrom('idempotency_keys')
        .select(['fingerprint', 'claimed_until', 'effect_at', 'status', 'body'])
        .where('scope', '=', scope)
        .where('key', '=', key)
        .executeTakeFirst()
      if (!held) return { outcome: 'running' } // released just now: the caller may retry
      if (held.fingerprint !== fingerprint) return { outcome: 'other' }
      if (held.status !== null) return { outcome: 'answered', status: held.status, body: held.body }
      return { outcome: held.effect_at && held.claimed_until <= now() ? 'lost' : 'running' }
    },

    /**
     * Records in a transaction that the claim has had an effect. Returns false when another request holds the key.
     */
    async markEffect(trx: Transaction<Tables>, claim: IdempotencyClaim): Promise<boolean> {
      const { numUpdatedRows } = await trx
        .updateTable('idempotency_keys')
        .set((eb) => ({ effect_at: eb.fn.coalesce('effect_at', eb.val(now())) }))
        .where('scope', '=', claim.scope)
        .where('key', '=', claim.key)
        .where('claim_id', '=', claim.claimId)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Stores the response for repeated requests. */
    async storeResponse(claim: IdempotencyClaim, status: number, body: string): Promise<void> {
      await updateClaimed(claim).set({ status, body }).execute()
    },

    /** Records that the request was executed and that its response is not stored. */
    async completeWithoutResponse(claim: IdempotencyClaim): Promise<void> {
      await updateClaimed(claim)
        .set((eb) => ({ effect_at: eb.fn.coalesce('effect_at', eb.val(now())), claimed_until: now() }))
        .execute()
    },

    /** Releases the key after a failure, unless the request had an effect: then the key remains used. */
    async release(claim: IdempotencyClaim): Promise<void> {
      const { numDeletedRows } = await db
        .deleteFrom('idempotency_keys')
        .where('scope', '=', claim.scope)
        .where('key', '=', claim.key)
        .where('claim_id', '=', claim.claimId)
        .where('effect_at', 'is', null)
        .executeTakeFirst()
      if (numDeletedRows === 0n) await updateClaimed(claim).set({ claimed_until: now() }).execute()
    },

    /** Removes expired rows, a limited number per call. */
    async removeExpired(): Promise<void> {
      for (let batch = 0; batch < REMOVAL_BATCHES; batch++) {
        const { numDeletedRows } = await db
          .deleteFrom('idempotency_keys')
          .where(
            sql`ctid`,
            'in',
            db
              .selectFrom('idempotency_keys')
              .select(sql`ctid`.as('row'))
              .where('created_at', '<=', expired())
              .orderBy('created_at')
              .limit(REMOVAL_BATCH),
          )
          .where('created_at', '<=', expired()) // a key that was claimed again since then remains
          .executeTakeFirst()
        if (numDeletedRows < BigInt(REMOVAL_BATCH)) return
      }
    },
  }
}
