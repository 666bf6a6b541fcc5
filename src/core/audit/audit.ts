import type { AuditRetention } from '@wheelhouse/protocol'
import type { Tx } from '../events/transactor.ts'

export interface AuditEvent {
  readonly at: Date
  /** The organization that the action concerns; undefined for the platform only. It sees the entry in its audit log. */
  readonly organizationId?: string | undefined
  /** The user who performed the action; undefined for the platform. */
  readonly actorId: string | undefined
  /** With what the actor was signed in, as `credentialOf` returns it; undefined if that is unknown here. */
  readonly credential?: string | undefined
  /** The name of the action, e.g. `certification.approved`. */
  readonly action: string
  /** The kind and id of the affected object. */
  readonly subject: readonly [type: string, id: string]
  /** Further details. Never a secret. */
  readonly data?: Record<string, unknown>
}

/**
 * How long entries are kept, by the beginning of their action; the first match counts, `days_90` without one. Regulation (EU) 2023/1230,
 * Annex III 1.1.9, from 2027-01-20: interventions and changes of what keeps a machine safe, five years. docs/audit.md has the table.
 */
const retentionOfActions: readonly (readonly [beginning: string, retention: AuditRetention])[] = [
  ['session.stop', 'years_5'],
  ['session.control_', 'years_5'],
  ['robot.settings_', 'years_5'],
  ['robot.video_limit_', 'years_5'],
  ['robot.recording_', 'years_5'],
  ['robot.hold_', 'years_5'],
  ['robot.software_', 'years_5'],
  ['robot_model.', 'years_5'],
  ['robot.', 'year_1'],
  ['user.', 'year_1'],
  ['sign_in.', 'year_1'],
  ['api_key.', 'year_1'],
  ['service_account.', 'year_1'],
  ['organization.', 'year_1'],
  ['member.', 'year_1'],
  ['invitation.', 'year_1'],
  ['group.', 'year_1'],
  ['grant.', 'year_1'],
  ['client.', 'year_1'],
  ['invoice.', 'year_1'],
  ['payout.', 'year_1'],
  ['session.charged', 'year_1'],
]

/** Returns how long entries of an action are kept. */
export const auditRetentionOf = (action: string): AuditRetention =>
  retentionOfActions.find(([beginning]) => action.startsWith(beginning))?.[1] ?? 'days_90'

/**
 * Records an action in the audit log, in the transaction that performs it, so that both commit together. Waits for no other entry: the
 * chain of the organization is made afterwards (`createAuditChain`).
 */
export async function audit(tx: Pick<Tx, 'db'>, event: AuditEvent): Promise<void> {
  const [subjectType, subjectId] = event.subject
  await tx.db
    .insertInto('audit_log')
    .values({
      at: event.at,
      organization_id: event.organizationId ?? null,
      actor_id: event.actorId ?? null,
      credential: event.credential ?? null,
      action: event.action,
      subject_type: subjectType,
      subject_id: subjectId,
      data: event.data ?? {},
      retention: auditRetentionOf(event.action),
    })
    .execute()
}
