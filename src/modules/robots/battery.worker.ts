import { sql } from 'kysely'
import { inBatches } from '../../core/database/in-batches.ts'
import type { NewNotification } from '../../core/events/new-notification.ts'
import type { Transact } from '../../core/events/transactor.ts'

/** Robots in one transaction, and so in one domain event. A small number, because their heartbeats wait for the lock. */
const ROBOTS_PER_BATCH = 20

interface LowBattery {
  robot_id: string
  owner_id: string
  robot_name: string
  battery: number
  battery_at: Date
  session_id: string | null
  operator_id: string | null
}

/** Notifies owners and operators of robots whose battery is low, once for each discharge. */
export function createBatteryJob(deps: { transact: Transact; now: () => Date }) {
  const { transact, now } = deps

  /** Claims the low-battery marks that heartbeats have set, and notifies in the same transaction. */
  const notifyBatch = () =>
    transact(async (tx) => {
      const { rows } = await sql<LowBattery>`
        with due as (
          select robot_id from robot_presence where battery_low and not battery_low_notified
          order by robot_id limit ${ROBOTS_PER_BATCH} for no key update skip locked
        ), claimed as (
          update robot_presence p set battery_low_notified = true from due where p.robot_id = due.robot_id
          returning p.robot_id, p.battery, p.battery_at
        )
        select c.robot_id, r.owner_id, r.name as robot_name, c.battery, c.battery_at,
          s.id as session_id, s.operator_id
        from claimed c join robots r on r.id = c.robot_id and r.deleted_at is null
          left join sessions s on s.robot_id = r.id and s.status in ('ACTIVE', 'PAUSED')`.execute(tx.db)
      if (rows.length > 0) {
        const robots = rows.map(({ session_id: _session, operator_id: _operator, ...robot }) => ({
          ...robot,
          battery_at: robot.battery_at.toISOString(),
        }))
        tx.publish('robots.battery_low', { robots })
        await tx.notify(now(), rows.flatMap(notificationsOf))
      }
      return rows.length
    })

  return {
    /** Notifies the owners of robots with a low battery, and the operators in session with those robots. */
    run: (): Promise<void> => inBatches(ROBOTS_PER_BATCH, notifyBatch),
  }
}

function notificationsOf(row: LowBattery): NewNotification[] {
  const { robot_id, robot_name, battery, owner_id, operator_id, session_id } = row
  const data = { robot_id, robot_name, battery, ...(session_id !== null && { session_id }) }
  const about = { type: 'robot.battery_low', data } as const
  return [
    { organizationId: owner_id, robotId: robot_id, ...about },
    ...(operator_id === null ? [] : [{ userId: operator_id, ...about }]),
  ]
}
