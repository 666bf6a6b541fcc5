import { randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import { conflict, notFound, uniqueViolation } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { CertificationStatus, RequestCertification } from './certification.schema.ts'
import { Certification } from './operators.entity.ts'

/** Most rows of one list. */
const LIST_LIMIT = 200

/** The decision of an admin about a certification. */
type CertificationDecision =
  | { readonly status: 'APPROVED' }
  | { readonly status: 'REJECTED' | 'REVOKED'; readonly reason: string }

const actions = {
  APPROVED: 'certification.approved',
  REJECTED: 'certification.rejected',
  REVOKED: 'certification.revoked',
} as const

/** Creates the service of certifications: requests, decisions, and the robots that they allow. */
export function createCertifications(deps: {
  db: Db
  forkEntityManager: () => EntityManager
  transact: Transact
  now: () => Date
  bus: Bus
}) {
  const { db, forkEntityManager, transact, now, bus } = deps

  /** Changes a certification that is in status `from`, audits it and notifies the operator. */
  async function applyDecision(
    tx: Tx,
    adminId: string,
    id: string,
    from: 'PENDING' | 'APPROVED',
    to: CertificationDecision,
    credential: string | undefined,
  ) {
    const at = now()
    const reason = to.status === 'APPROVED' ? null : to.reason
    const decided = await tx.db
      .updateTable('certifications')
      .set({ status: to.status, reason, decided_at: at, decided_by_id: adminId })
      .where('id', '=', id)
      .where('status', '=', from)
      .returningAll()
      .executeTakeFirst()
    if (!decided) {
      const known = await tx.db.selectFrom('certifications').select('id').where('id', '=', id).execute()
      if (known.length === 0) throw notFound('Certification')
      throw from === 'PENDING'
        ? conflict('certification_already_decided', 'This certification is already decided')
        : conflict('certification_not_approved', 'Only an approved certification can be revoked')
    }
    const { operator_id, robot_type } = decided
    const operator = await tx.db
      .selectFrom('users')
      .select('display_name')
      .where('id', '=', operator_id)
      .executeTakeFirstOrThrow()
    const action = actions[to.status]
    const reasonFields = reason === null ? {} : { reason }
    await audit(tx, {
      at,
      organizationId: operator_id,
      actorId: adminId,
      credential,
      action,
      subject: ['certification', id],
      data: { operator_id, robot_type, ...reasonFields },
    })
    const data = { certification_id: id, robot_type, ...reasonFields }
    await tx.notify(at, [{ userId: operator_id, type: action, data }])
    return { ...decided, operator_name: operator.display_name }
  }

  return {
    /** @throws 409 while a request for the type is pending or approved. */
    async request(operatorId: string, input: RequestCertification) {
      try {
        return await transact(async (tx) =>
          tx.em.create(Certification, {
            id: randomUUID(),
            operator: operatorId,
            robotType: input.robot_type,
            note: input.note ?? null,
            requestedAt: now(),
          }),
        )
      } catch (cause) {
        if (uniqueViolation(cause) === 'one_live_certification_per_type') {
          throw conflict(
            'certification_exists',
            'A certification for this robot type is already requested or approved. Wait for the decision.',
          )
        }
        throw cause
      }
    },

    /** Lists an operator's requests, newest first. */
    list: (operatorId: string) =>
      forkEntityManager().find(
        Certification,
        { operator: operatorId },
        { orderBy: { requestedAt: 'desc' }, limit: LIST_LIMIT },
      ),

    /** Lists the requests of all operators: pending ones oldest first, decided ones newest first. */
    listAll: (status: CertificationStatus | undefined) =>
      db
        .selectFrom('certifications')
        .innerJoin('users', 'users.id', 'certifications.operator_id')
        .selectAll('certifications')
        .select('users.display_name as operator_name')
        .$if(status !== undefined, (query) => query.where('status', '=', status as CertificationStatus))
        .orderBy('requested_at', status === undefined || status === 'PENDING' ? 'asc' : 'desc')
        .limit(LIST_LIMIT)
        .execute(),

    /**
     * Approves or rejects a request, and notifies the operator.
     * @throws 404 unknown, 409 already decided.
     */
    decide: (adminId: string, id: string, decision: CertificationDecision, credential?: string) =>
      transact((tx) => applyDecision(tx, adminId, id, 'PENDING', decision, credential)),

    /**
     * Revokes a certification and notifies the operator. The operator can start no further session on robots that
     * require it. An open session continues.
     * @throws 404 unknown, 409 not approved.
     */
    async revoke(adminId: string, id: string, reason: string, credential?: string) {
      const revoked = await transact((tx) =>
        applyDecision(tx, adminId, id, 'APPROVED', { status: 'REVOKED', reason }, credential),
      )
      bus.publish('permissions.lost', { userId: revoked.operator_id, suspended: false })
      return revoked
    },

    /** Returns the robot types of the operator's approved certifications. */
    async certifiedTypes(operatorId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('certifications')
        .select('robot_type')
        .where('operator_id', '=', operatorId)
        .where('status', '=', 'APPROVED')
        .execute()
      return rows.map((row) => row.robot_type)
    },
  }
}
export type Certifications = ReturnType<typeof createCertifications>
