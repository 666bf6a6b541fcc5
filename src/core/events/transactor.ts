import type { EntityManager } from '@mikro-orm/postgresql'
import { sql, type Transaction } from 'kysely'
import { compiled } from '../database/compiled.ts'
import type { Db, Tables } from '../database/tables.ts'
import type { NewJob } from '../jobs/queue.ts'
import type { Bus, BusTopics, RobotStop } from './bus.ts'
import { catalog, type EventName, type EventPayload } from './catalog.ts'
import type { NewNotification } from './new-notification.ts'

/** A database transaction, with the domain events and notifications that exist only if it commits. */
export interface Tx {
  /** Conditional updates, batches and lists on hot paths. */
  readonly db: Transaction<Tables>
  /**
   * Entities of plain create-read-update-delete modules, in this transaction. Created at the first use; its changes are
   * flushed before the transaction commits. Call `flush` earlier when a query in `db` has to see them.
   */
  readonly em: EntityManager
  /** Appends a domain event to the outbox: it is published after the commit. */
  publish<N extends EventName>(name: N, payload: EventPayload<N>): void
  /** Writes notifications and publishes their events. */
  notify(at: Date, notifications: readonly NewNotification[]): Promise<void>
  /** Creates a job. It runs after the commit. */
  enqueue<Data extends object>(job: NewJob<Data>): void
  /** Makes gateways reload these robots after the commit. */
  robotsChanged(...robotIds: string[]): void
  /** Sends a stop to the robot's gateway after the commit, before any other message. */
  stopRobot(stop: RobotStop): void
  /** Tells the robot's gateway after the commit who controls it, before other messages but stops. */
  controlTransferred(lease: BusTopics['control.transferred']): void
}

/** Writes notifications in a transaction. The notifications module implements it, the composition root passes it in. */
export type WriteNotifications = (
  tx: Tx,
  at: Date,
  notifications: readonly NewNotification[],
) => Promise<void>

/** Creates jobs in a transaction, and announces them to workers after the commit. The job engine implements it. */
export interface JobWriter {
  insert(trx: Transaction<Tables>, jobs: readonly NewJob[]): Promise<void>
  announce(jobs: readonly NewJob[]): void
}

export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/**
 * Runs work of one statement that appends its domain event itself (`appendEventSql`). A result of undefined means that
 * there is no event.
 */
export type RunStatement = <T>(work: (db: Db) => Promise<T | undefined>) => Promise<T | undefined>

/** Deadlock and serialization failures: PostgreSQL has rolled back, so the same work may run again. */
const RETRYABLE = new Set(['40P01', '40001'])
/** Attempts of a transaction that PostgreSQL rolls back as a deadlock. */
const MAX_ATTEMPTS = 4

/** Inserts any number of events in their order with one statement. */
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
 * Creates the function that runs work in one transaction together with its outbox rows. After the commit it publishes
 * wake-up hints. A crash in between loses only the hint: the outbox relay finds the events by polling.
 *
 * Transactions lock rows in this order: `robot_presence`, `robots`, `robot_pairings`, `datasets`, `invoices`, `sessions`,
 * `users` (by id), `notifications`, `notification_digests`. Before `users` come `event_streams`, `webhooks` and
 * `webhook_deliveries`, in this order, and `robot_log_streams` (by robot) and `robot_logs`, unless they are written
 * separately. Deadlocks that remain possible between batches are retried.
 */
export function createTransactor(deps: {
  db: Db
  bus: Bus
  /** Creates an entity manager, which then joins the transaction. */
  forkEntityManager: () => EntityManager
  writeNotifications: WriteNotifications
  jobs: JobWriter
  /** Validates every event against its schema. Tests turn it on; it costs time. */
  validateEvents?: boolean
  /** Runs last in every transaction. An error rolls the transaction back. */
  beforeCommit?: (trx: Transaction<Tables>) => Promise<void>
}): Transact {
  const { db, bus, jobs, beforeCommit } = deps
  return async (work) =>
    await retried(async () => {
      const effects = new Effects()
      const result = await db.transaction().execute(async (trx) => {
        const { tx, flush } = openTx(trx, effects, deps)
        const output = await work(tx)
        await flush()
        if (effects.events.length > 0)
          await insertOutboxEvents(trx, { events: JSON.stringify(effects.events) })
        if (effects.jobs.length > 0) await jobs.insert(trx, effects.jobs)
        await beforeCommit?.(trx)
        return output
      })
      effects.publish(bus)
      if (effects.jobs.length > 0) jobs.announce(effects.jobs)
      return result
    })
}

/**
 * Creates the function that runs a single statement. It is its own transaction, which saves three round trips, except
 * when something must be written before the commit.
 */
export function createStatementRunner(deps: {
  db: Db
  bus: Bus
  beforeCommit: (trx: Transaction<Tables>) => Promise<void>
  /** Returns whether `beforeCommit` has an effect now. */
  hasEffectBeforeCommit: () => boolean
}): RunStatement {
  const { db, bus, beforeCommit, hasEffectBeforeCommit } = deps
  const inTransaction = async <T>(work: (db: Db) => Promise<T>): Promise<T> =>
    await db.transaction().execute(async (trx) => {
      const output = await work(trx)
      await beforeCommit(trx)
      return output
    })
  return async (work) =>
    await retried(async () => {
      const result = await (hasEffectBeforeCommit() ? inTransaction(work) : work(db))
      if (result !== undefined) bus.publish('outbox.wake', {})
      return result
    })
}

/** Runs an attempt again after a deadlock or a serialization failure. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt()
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
      if (!RETRYABLE.has(code) || number === MAX_ATTEMPTS) throw cause
    }
  }
}

/** The effects of one attempt of a transaction: stored with it, or published after it. */
class Effects {
  readonly events: { name: EventName; payload: unknown }[] = []
  readonly robotIds: string[] = []
  readonly jobs: NewJob[] = []
  readonly stops: RobotStop[] = []
  readonly leases: BusTopics['control.transferred'][] = []

  publish(bus: Bus): void {
    for (const stop of this.stops) bus.publish('robot.stop', stop)
    for (const lease of this.leases) bus.publish('control.transferred', lease)
    if (this.events.length > 0) bus.publish('outbox.wake', {})
    if (this.robotIds.length > 0) bus.publish('robots.changed', { robotIds: this.robotIds })
  }
}

function openTx(
  trx: Transaction<Tables>,
  effects: Effects,
  deps: Pick<
    Parameters<typeof createTransactor>[0],
    'forkEntityManager' | 'writeNotifications' | 'validateEvents'
  >,
): { tx: Tx; flush: () => Promise<void> } {
  let entityManager: EntityManager | undefined
  const tx: Tx = {
    db: trx,
    get em() {
      if (!entityManager) {
        entityManager = deps.forkEntityManager()
        entityManager.setTransactionContext(trx)
      }
      return entityManager
    },
    publish: (name, payload) => {
      if (deps.validateEvents) catalog[name].parse(payload)
      effects.events.push({ name, payload })
    },
    notify: (at, notifications) => deps.writeNotifications(tx, at, notifications),
    enqueue: (job) => void effects.jobs.push(job as NewJob),
    robotsChanged: (...ids) => effects.robotIds.push(...ids),
    stopRobot: (stop) => effects.stops.push(stop),
    controlTransferred: (lease) => effects.leases.push(lease),
  }
  return { tx, flush: async () => await entityManager?.flush() }
}
