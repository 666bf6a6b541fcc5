import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { ownedBy, scopeOf } from '../../core/permissions/authorization.ts'
import { planTerms } from '../billing/index.ts'
import { ownedByClient } from '../robots/index.ts'
import { averageRating, ratingCount } from '../sessions/index.ts'
import { isForTeam, type Operator } from './available-robots.service.ts'
import type { PreFlight } from './pre-flight.schema.ts'

/** Creates the service that shows operators a robot before a session. */
export function createPreFlights({ db }: { db: Db }) {
  const robotById = (caller: Operator, id: string) => {
    const { client_rate_cents_per_minute, operator_share_percent } = planTerms(sql.ref('robots.owner_id'))
    return db
      .selectFrom('robots')
      .innerJoin('robot_presence as presence', 'presence.robot_id', 'robots.id')
      .leftJoin('gateway_nodes as node', (join) =>
        join
          .onRef('node.id', '=', 'presence.node_id')
          .on('presence.connected', '=', true)
          .on('node.draining', '=', false),
      )
      .leftJoin('robot_models as model', 'model.robot_type', 'robots.robot_type')
      .innerJoin('organizations as owner', 'owner.id', 'robots.owner_id')
      .select('owner.name as owner_name')
      .select(['robots.id', 'robots.name', 'robots.robot_type', 'robots.status', 'robots.tags'])
      .select(['robots.owner_id', 'robots.on_hold', 'robots.require_certification', 'robots.operator_notes'])
      .select([
        'robots.latency_limit_ms',
        'robots.latency_budget_ms',
        'robots.video_limit_ms',
        'robots.recording',
      ])
      .select(sql<boolean>`robots.stream_url <> ''`.as('has_camera'))
      .select(
        sql<PreFlight['control_schema']>`coalesce(robots.control_schema, model.control_schema)`.as(
          'control_schema',
        ),
      )
      .select(['presence.last_heartbeat', 'presence.battery', 'presence.battery_at'])
      .select('node.url as gateway_url')
      .select(
        sql<PreFlight['model']>`
        case when model.id is not null then jsonb_build_object(
          'id', model.id, 'name', model.name, 'manufacturer', model.manufacturer, 'robot_type', model.robot_type,
          'category', model.category, 'degrees_of_freedom', model.degrees_of_freedom,
          'control_modes', model.control_modes, 'notes', model.notes) end`.as('model'),
      )
      .select([
        client_rate_cents_per_minute.as('client_rate_cents_per_minute'),
        operator_share_percent.as('operator_share_percent'),
      ])
      .where('robots.id', '=', id)
      .where('robots.deleted_at', 'is', null)
      .where(ownedByClient)
      .where(
        isForTeam(caller)
          ? sql<boolean>`(${ownedBy(scopeOf(caller))} and robots.operators <> 'marketplace')`
          : sql<boolean>`(robots.operators <> 'own' or robots.owner_id = ${caller.userId})`,
      )
      .executeTakeFirst()
  }

  /** Returns the status of the operator's newest certification for a type. A live one comes before older ones. */
  const certificationOf = (operatorId: string, robotType: string) =>
    db
      .selectFrom('certifications')
      .select('status')
      .where('operator_id', '=', operatorId)
      .where('robot_type', '=', robotType)
      .orderBy(sql`status in ('PENDING', 'APPROVED')`, 'desc')
      .orderBy('requested_at', 'desc')
      .limit(1)
      .executeTakeFirst()

  const ratingsBy = (ownerId: string) =>
    db
      .selectFrom('sessions')
      .select([averageRating.as('average'), ratingCount.as('count')])
      .where('client_id', '=', ownerId)
      .where('status', '=', 'COMPLETED') // only completed sessions are rated
      .executeTakeFirstOrThrow()

  return {
    /** @throws 404 when the robot does not exist, or its owner has left the platform. */
    async of(caller: Operator, robotId: string): Promise<PreFlight> {
      const row = await robotById(caller, robotId)
      if (!row) throw notFound('Robot')
      const [certification, ratings] = await Promise.all([
        certificationOf(caller.userId, row.robot_type),
        ratingsBy(row.owner_id),
      ])
      const { owner_id: _, require_certification: required, ...robot } = row
      const { client_rate_cents_per_minute: rate, operator_share_percent: share, ...shown } = robot
      const mayDrive = isForTeam(caller) || !required || certification?.status === 'APPROVED'
      return {
        ...shown,
        last_heartbeat: iso(row.last_heartbeat),
        certification: { required, status: certification?.status ?? null },
        may_drive: mayDrive,
        battery: mayDrive ? row.battery : null,
        battery_at: mayDrive ? iso(row.battery_at) : null,
        operator_notes: mayDrive ? row.operator_notes : null,
        gateway_url: mayDrive ? row.gateway_url : null,
        earnings_cents_per_minute: isForTeam(caller) ? 0 : (rate * share) / 100,
        owner_rating_average: ratings.average,
        owner_rating_count: Number(ratings.count),
      }
    },
  }
}
export type PreFlights = ReturnType<typeof createPreFlights>
