import type { RobotStatusEvent } from '@wheelhouse/protocol'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { can, ownedBy, type Scope, scopeOf } from '../../core/permissions/authorization.ts'

/** Reads the certifications of operators. The operators module implements it. */
interface CertifiedTypes {
  certifiedTypes(operatorId: string): Promise<readonly string[]>
}

/** Maximum number of robots in a list. */
const LIST_LIMIT = 1_000

/**
 * The robots whose status a caller may watch: a client's own robots; for an operator, robots that require no
 * certification and robots of types that the operator is certified for.
 */
export interface RobotScope {
  /** The robots that the caller sees as their owner or as a member; undefined for none. */
  readonly own: Scope | undefined
  /** Operators may watch every robot that requires no certification. */
  readonly isOperator: boolean
  readonly robotTypes: readonly string[]
}

export function createRobotWatch(deps: { db: Db; certifications: CertifiedTypes }) {
  const { db, certifications } = deps
  return {
    async scope(caller: Caller): Promise<RobotScope> {
      const isOperator = caller.roles.includes('operator')
      return {
        own: caller.roles.includes('client') && can(caller, 'robots.read') ? scopeOf(caller) : undefined,
        isOperator,
        robotTypes: isOperator ? await certifications.certifiedTypes(caller.userId) : [],
      }
    },

    /** Returns the current status of the robots in a scope, most recently registered first. */
    async robots({ own, isOperator, robotTypes }: RobotScope): Promise<RobotStatusEvent[]> {
      if (own === undefined && !isOperator) return []
      const rows = await db
        .selectFrom('robots')
        .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
        .select(['robots.id as robot_id', 'robots.status', 'robot_presence.last_heartbeat'])
        .where('robots.deleted_at', 'is', null)
        .where((eb) =>
          eb.or([
            ...(own === undefined ? [] : [ownedBy(own)]),
            ...(isOperator
              ? [
                  eb.and([
                    eb('robots.operators', '<>', 'own'),
                    eb.or([
                      eb('robots.require_certification', '=', false),
                      ...(robotTypes.length === 0 ? [] : [eb('robots.robot_type', 'in', robotTypes)]),
                    ]),
                  ]),
                ]
              : []),
          ]),
        )
        .orderBy('robots.created_at', 'desc')
        .limit(LIST_LIMIT)
        .execute()
      return rows.map((row) => ({ ...row, last_heartbeat: iso(row.last_heartbeat) }))
    },
  }
}
export type RobotWatch = ReturnType<typeof createRobotWatch>
