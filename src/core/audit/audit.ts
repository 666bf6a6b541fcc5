import type { Tx } from '../events/transactor.ts'

export interface AuditEvent {
  readonly at: Date
  /** The user who performed the action; undefined for the platform. */
  readonly actorId: string | undefined
  /** The name of the action, e.g. `certification.approved`. */
  readonly action: string
  /** The kind and id of the affected object. */
  readonly subject: readonly [type: string, id: string]
  /** Further details. Never a secret. */
  readonly data?: Record<string, unknown>
}

/** Records an action in the audit log, in the transaction that performs it, so that both commit together. */
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
