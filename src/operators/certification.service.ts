import { randomUUID } from 'node:crypto'
import { audit } from '../admin/audit.ts'
import type { Db } from '../db/orm.ts'
import type { Transact } from '../events/transactor.ts'
import { conflict, notFound, uniqueViolation } from '../http/errors.ts'
import { notify } from '../notifications/notify.ts'
import type { CertificationStatus, RequestCertification } from './certification.schema.ts'

/** Most rows one list answers with. */
const LIST_LIMIT = 200

/** Which robot types an operator is trusted with, and the robots that follow from it. */
export function createCertifications(parts: { db: Db; transact: Transact; now: () => Date }) {
  const { db, transact, now } = parts

  return {
    /** @throws 409 while a request for the type is pending or approved. */
    async request(operatorId: string, input: RequestCertification) {
      try {
        return await transact((tx) =>
          tx.db
            .insertInto('certifications')
            .values({
              id: randomUUID(),
              operator_id: operatorId,
              robot_type: input.robot_type,
              note: input.note ?? null,
              requested_at: now(),
            })
            .returningAll()
            .executeTakeFirstOrThrow(),
        )
      } catch (cause) {
        if (uniqueViolation(cause) === 'one_live_certification_per_type') {
          throw conflict(
            'A certification for this robot type is already requested or approved. Wait for the decision.',
          )
        }
        throw cause
      }
    },

    /** An operator's requests, newest first. */
    list: (operatorId: string) =>
      db
        .selectFrom('certifications')
        .selectAll()
        .where('operator_id', '=', operatorId)
        .orderBy('requested_at', 'desc')
        .limit(LIST_LIMIT)
        .execute(),

    /** Everybody's requests, oldest first, so that who waits longest comes first; those decided newest first. */
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
     * An admin's decision; the operator is notified.
     * @throws 404 unknown, 409 already decided.
     */
    decide: (adminId: string, id: string, status: 'APPROVED' | 'REJECTED') =>
      transact(async (tx) => {
        const decided = await tx.db
          .updateTable('certifications')
          .set({ status, decided_at: now(), decided_by_id: adminId })
          .where('id', '=', id)
          .where('status', '=', 'PENDING')
          .returningAll()
          .executeTakeFirst()
        if (!decided) {
          const known = await tx.db.selectFrom('certifications').select('id').where('id', '=', id).execute()
          throw known.length > 0
            ? conflict('This certification is already decided. Reload the list.')
            : notFound('Certification')
        }
        const operator = await tx.db
          .selectFrom('users')
          .select('display_name')
          .where('id', '=', decided.operator_id)
          .executeTakeFirstOrThrow()
        const action = status === 'APPROVED' ? 'certification.approved' : 'certification.rejected'
        await audit(tx, {
          at: now(),
          actorId: adminId,
          action,
          subject: ['certification', id],
          data: { operator_id: decided.operator_id, robot_type: decided.robot_type },
        })
        await notify(tx, now(), [
          {
            userId: decided.operator_id,
            type: action,
            data: { certification_id: id, robot_type: decided.robot_type },
          },
        ])
        return { ...decided, operator_name: operator.display_name }
      }),

    /** Types the operator holds an approved certification for. */
    async certifiedTypes(operatorId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('certifications')
        .select('robot_type')
        .where('operator_id', '=', operatorId)
        .where('status', '=', 'APPROVED')
        .execute()
      return rows.map((row) => row.robot_type)
    },

    /** AVAILABLE robots of the types the operator is certified for. */
    availableRobots: (operatorId: string) =>
      db
        .selectFrom('robots')
        .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
        .innerJoin('certifications', 'certifications.robot_type', 'robots.robot_type')
        .select(['robots.id', 'robots.name', 'robots.robot_type', 'robots.status', 'robots.tags'])
        .select('robot_presence.last_heartbeat')
        .where('certifications.operator_id', '=', operatorId)
        .where('certifications.status', '=', 'APPROVED')
        .where('robots.status', '=', 'AVAILABLE')
        .where('robots.deleted_at', 'is', null)
        .orderBy('robots.created_at', 'desc')
        .orderBy('robots.id', 'desc')
        .limit(LIST_LIMIT)
        .execute(),
  }
}
export type Certifications = ReturnType<typeof createCertifications>
