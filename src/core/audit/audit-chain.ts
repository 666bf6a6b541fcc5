import {
  AUDIT_CHAIN_START,
  type AuditHashes,
  type AuditLink,
  auditContentHash,
  auditRetentionDays,
  auditRowHash,
} from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { inBatches } from '../database/in-batches.ts'
import { iso } from '../database/iso.ts'
import type { Db } from '../database/tables.ts'

/** Rows that one transaction seals, and rows of a page of an export. */
const AUDIT_BATCH = 500
/** Organizations whose rows one run seals. The next run takes the others. */
const MAX_ORGANIZATIONS = 200
/** Rows that one statement deletes after their time. */
const DELETE_BATCH = 1_000

/** What is hashed as the content of a row. */
const contentColumns = ['actor_id', 'credential', 'action', 'subject_type', 'subject_id', 'data'] as const
type Content = Readonly<Record<(typeof contentColumns)[number], unknown>>

/** A row of the chain as exports have it. After its time it has no content. */
export type AuditChainRow = AuditLink & Partial<Content> & AuditHashes

/** Seals rows of the audit log in a chain for each organization, reads the chain, and deletes rows after their time. */
export function createAuditChain({ db }: { db: Db }) {
  /** Seals the oldest unsealed rows of an organization. Returns how many. */
  const sealBatch = (organizationId: string): Promise<number> =>
    db.transaction().execute(async (trx) => {
      // Locks the head. Rows are read after that, so that two tasks do not seal the same row, and a row that commits late, with a
      // lower id than sealed ones, is sealed then: the chain has the order of sealing.
      const head = await trx
        .insertInto('audit_heads')
        .values({ organization_id: organizationId, seq: 0, hash: AUDIT_CHAIN_START })
        .onConflict((conflict) =>
          conflict.column('organization_id').doUpdateSet({ seq: sql`audit_heads.seq` }),
        )
        .returning(['seq', 'hash'])
        .executeTakeFirstOrThrow()
      const rows = await trx
        .selectFrom('audit_log')
        .select(['id', 'at', 'retention', ...contentColumns])
        .where('organization_id', '=', organizationId)
        .where('seq', 'is', null)
        .orderBy('id')
        .limit(AUDIT_BATCH)
        .execute()
      let { seq, hash } = head
      const sealed: (AuditHashes & { id: number; seq: number })[] = []
      for (const { id, at, retention, ...content } of rows) {
        const prev_hash = hash
        seq += 1
        const content_hash = await auditContentHash(content)
        const link = { organization_id: organizationId, seq, at: iso(at), retention }
        hash = await auditRowHash(link, content_hash, prev_hash)
        sealed.push({ id, seq, content_hash, prev_hash, hash })
      }
      if (sealed.length === 0) return 0
      await sql`
        update audit_log set
          seq = sealed.seq, content_hash = sealed.content_hash, prev_hash = sealed.prev_hash, hash = sealed.hash
        from jsonb_to_recordset(${JSON.stringify(sealed)}::jsonb)
          as sealed (id bigint, seq bigint, content_hash text, prev_hash text, hash text)
        where audit_log.id = sealed.id`.execute(trx)
      await trx
        .updateTable('audit_heads')
        .set({ seq, hash })
        .where('organization_id', '=', organizationId)
        .execute()
      return sealed.length
    })

  const seal = (organizationId: string): Promise<void> =>
    inBatches(AUDIT_BATCH, () => sealBatch(organizationId))

  /** Returns the rows of a chain after a number, oldest first. */
  async function page(organizationId: string, after: number): Promise<AuditChainRow[]> {
    const { rows } = await sql<AuditLink & { at: Date } & Content & AuditHashes & { deleted: boolean }>`
      (select organization_id, seq, at, retention, actor_id, credential, action, subject_type, subject_id, data,
          content_hash, prev_hash, hash, false as deleted
        from audit_log where organization_id = ${organizationId} and seq > ${after} order by seq limit ${AUDIT_BATCH})
      union all
      (select organization_id, seq, at, retention, null, null, null, null, null, null, content_hash, prev_hash, hash, true
        from audit_log_deleted where organization_id = ${organizationId} and seq > ${after} order by seq limit ${AUDIT_BATCH})
      order by seq limit ${AUDIT_BATCH}`.execute(db)
    return rows.map(
      ({ deleted, seq, at, organization_id, retention, content_hash, prev_hash, hash, ...content }) => ({
        organization_id,
        seq,
        at: iso(at),
        retention,
        ...(!deleted && content),
        content_hash,
        prev_hash,
        hash,
      }),
    )
  }

  return {
    /** Seals all rows of an organization that are committed now. */
    seal,

    /** Seals the rows of all organizations. */
    async sealAll(): Promise<void> {
      const waiting = await db
        .selectFrom('audit_log')
        .select('organization_id')
        .distinct()
        .where('seq', 'is', null)
        .where('organization_id', 'is not', null)
        .limit(MAX_ORGANIZATIONS)
        .execute()
      for (const { organization_id: id } of waiting) if (id !== null) await seal(id)
    },

    /** Returns the newest sealed row of an organization; undefined before the first one. */
    head: (organizationId: string): Promise<{ seq: number; hash: string } | undefined> =>
      db
        .selectFrom('audit_heads')
        .select(['seq', 'hash'])
        .where('organization_id', '=', organizationId)
        .where('seq', '>', 0)
        .executeTakeFirst(),

    /** Reads the chain of an organization page by page, oldest first. */
    async *read(organizationId: string): AsyncGenerator<AuditChainRow[]> {
      let rows = await page(organizationId, 0)
      while (rows.length > 0) {
        yield rows
        rows = rows.length < AUDIT_BATCH ? [] : await page(organizationId, rows.at(-1)?.seq ?? 0)
      }
    },

    /** Deletes rows after their time. The database keeps their links, and rejects the deletion of any other row. */
    async deleteExpired(): Promise<void> {
      for (const [retention, days] of Object.entries(auditRetentionDays))
        await inBatches(DELETE_BATCH, async () => {
          const { numAffectedRows } = await sql`
            delete from audit_log where id in (
              select id from audit_log
              where retention = ${retention} and at < now() - make_interval(hours => ${days * 24})
                and (organization_id is null or seq is not null)
              order by at limit ${DELETE_BATCH})`.execute(db)
          return Number(numAffectedRows)
        })
    },
  }
}
export type AuditChain = ReturnType<typeof createAuditChain>
