import { sql, type Transaction } from 'kysely'
import { compiled } from '../database/compiled.ts'
import type { Db, Tables } from '../database/tables.ts'
import type { Bus, RobotStop } from './bus.ts'
import { catalog, type EventName, type EventPayload } from './catalog.ts'

/** A transaction of the platform: queries, and the facts that exist only if it commits. */
export interface Tx {
  readonly db: Transaction<Tables>
  /** Writes a fact into the outbox as part of this transaction. */
  record<N extends EventName>(name: N, payload: EventPayload<N>): void
  /** Lets gateways look these robots up once this transaction has committed. */
  robotsChanged(...robotIds: string[]): void
  /** Tells the robot's gateway of a stop, before anything else, once this transaction has committed. */
  stopRobot(stop: RobotStop): void
}

export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/** Deadlock and serialization failures: PostgreSQL undid everything, the same work may be done again. */
const RETRYABLE = new Set(['40P01', '40001'])
const MAX_ATTEMPTS = 4

/** Any number of facts, in their order, by one statement. */
const insertOutboxEvents = compiled<{ events: string }>()((db, param) =>
  db
    .insertInto('outbox')
    .columns(['name', 'payload'])
    .expression((eb) =>
      eb
        .selectFrom(
          sql<{
            event: unknown
            ordinal: number
          }>`jsonb_array_elements(${param('events')}::jsonb) with ordinality`.as<'f'>(
            sql`f (event, ordinal)`,
          ),
        )
        .select([sql<string>`event ->> 'name'`.as('name'), sql<unknown>`event -> 'payload'`.as('payload')])
        .orderBy('f.ordinal'),
    ),
)

/**
 * Runs work in one transaction with its outbox rows. After the commit it sends wake-up hints; a crash in
 * between loses only the hint, the facts are found by polling.
 */
export function createTransactor(deps: {
  db: Db
  bus: Bus
  /** Whether every fact is held against its schema: for tests, as it costs time. */
  validateEvents?: boolean
  /** The last act of every transaction; what it throws undoes the transaction. */
  beforeCommit?: (trx: Transaction<Tables>) => Promise<void>
}): Transact {
  const { db, bus, validateEvents, beforeCommit } = deps
  return async (work) => {
    for (let attempt = 1; ; attempt++) {
      const events: { name: EventName; payload: unknown }[] = []
      const robotIds: string[] = []
      const stops: RobotStop[] = []
      try {
        const result = await db.transaction().execute(async (trx) => {
          const answer = await work({
            db: trx,
            record: (name, payload) => {
              if (validateEvents) catalog[name].parse(payload)
              events.push({ name, payload })
            },
            robotsChanged: (...ids) => robotIds.push(...ids),
            stopRobot: (stop) => stops.push(stop),
          })
          if (events.length > 0) await insertOutboxEvents(trx, { events: JSON.stringify(events) })
          await beforeCommit?.(trx)
          return answer
        })
        for (const stop of stops) bus.publish('robot.stop', stop)
        if (events.length > 0) bus.publish('outbox.wake', {})
        if (robotIds.length > 0) bus.publish('robots.changed', { robotIds })
        return result
      } catch (cause) {
        const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
        if (!RETRYABLE.has(code) || attempt === MAX_ATTEMPTS) throw cause
      }
    }
  }
}
