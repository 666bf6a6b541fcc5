import type { Tx } from '../events/transactor.ts'

export interface AuditEvent {
  readonly at: Date
  /** Who did it; undefined when the platform acted by itself. */
  readonly actorId: string | undefined
  /** What was done, e.g. `certification.approved`. */
  readonly action: string
  /** What it was done to: kind and id. */
  readonly subject: readonly [type: string, id: string]
  /** What else must be known later. Never a secret. */
  readonly data?: Record<string, unknown>
}

/** Writes an act into the audit log, in the transaction that performs it: neither exists without the other. */
export async function audit(tx: Pick<Tx, 'db'>, event: AuditEvent): Promise<void> {
  const [subjectType, subjectId] = event.subject
  await tx.db
    .insertInto('audit_log')
    .values({
      at: event.at,
      actor_id: event.actorId ?? null,
      action: event.action,
      subject_type: subjectType,
      subject_id: subjectId,
      data: event.data ?? {},
    })
    .execute()
}
