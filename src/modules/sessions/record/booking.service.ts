import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { type AppError, conflict, exclusionViolation } from '../../../core/errors/errors.ts'
import { PLANNED_WINDOW } from './session.entity.ts'

/** How long a scheduled session is planned for unless the caller says otherwise. */
export const DEFAULT_PLANNED_MINUTES = 60
const MS_PER_MINUTE = 60_000

/** What a session would like to hold: a robot and an operator for some time. */
export interface Booking {
  readonly robotId: string
  readonly operatorId: string
  readonly from: Date
  readonly until: Date
  /** The session itself, when it exists already. */
  readonly sessionId?: string
}

interface Overlap {
  readonly id: string
  readonly operator_id: string
  readonly robot_name: string
  readonly starts_at: Date
  readonly ends_at: Date
}

/** The end of the planned window of a session; null when no end is planned. For queries on `sessions` alone. */
export const plannedEnd: RawBuilder<Date | null> = sql<Date | null>`upper(${sql.raw(PLANNED_WINDOW)})`

/** The planned window of each session that holds one. */
const plannedWindows = (db: Db) =>
  db
    .selectFrom('sessions')
    .select(['id', 'robot_id', 'operator_id', sql<string>`${sql.raw(PLANNED_WINDOW)}`.as('span')])
    .where('status', 'in', ['PENDING', 'ACTIVE', 'PAUSED'])
    .where('planned_minutes', 'is not', null)

/** Finds the session whose planned window is in the way: one of the same operator, else one on the same robot. */
export async function findOverlap(db: Db, booking: Booking): Promise<Overlap | undefined> {
  const { robotId, operatorId, from, until, sessionId } = booking
  const sameOperator = ({ eb }: { eb: ExpressionBuilder<Tables, 'sessions'> }) =>
    eb('operator_id', '=', operatorId)
  return await db
    .selectFrom(
      plannedWindows(db)
        .where(({ eb, or }) => or([sameOperator({ eb }), eb('robot_id', '=', robotId)]))
        .$if(sessionId !== undefined, (query) => query.where('id', '<>', sessionId as string))
        .as('planned'),
    )
    .innerJoin('robots', 'robots.id', 'planned.robot_id')
    .select(['planned.id', 'planned.operator_id', 'robots.name as robot_name'])
    .select([sql<Date>`lower(span)`.as('starts_at'), sql<Date>`upper(span)`.as('ends_at')])
    .where(sql<boolean>`span && tstzrange(${from}::timestamptz, ${until}::timestamptz)`)
    .orderBy(sql`planned.operator_id = ${operatorId} desc, lower(span)`)
    .executeTakeFirst()
}

/** `2026-11-20 09:30`: errors are read in every zone, so they name UTC. */
const formatUtc = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ')

/**
 * Names what is in the way to the operator of the booking: their own session in full, another operator's session by
 * its window alone.
 */
function overlapErrorForOperator(overlap: Overlap, { operatorId }: Booking): AppError {
  const { id, robot_name, starts_at, ends_at } = overlap
  const window = `from ${formatUtc(starts_at)} to ${formatUtc(ends_at)} UTC`
  return overlap.operator_id === operatorId
    ? conflict(`The operator already has a session on ${robot_name} planned ${window} (session ${id})`)
    : conflict(`The robot is already booked ${window}`)
}

/** Names it to the client of the session, whom the operator's sessions with others do not concern. */
export function overlapErrorForClient(overlap: Overlap, { operatorId }: Booking): AppError {
  const at = `${formatUtc(overlap.starts_at)} UTC`
  return overlap.operator_id === operatorId
    ? conflict(`The operator has another session planned at ${at}: ask for fewer minutes`)
    : conflict(`The robot is booked from ${at} on: ask for fewer minutes`)
}

/**
 * Does work that may plan a session for a time that is taken. The exclusion constraints decide; what they refuse
 * becomes a conflict that names what is in the way.
 */
export async function withOverlapErrors<T>(
  db: Db,
  booking: () => Promise<Booking | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!exclusionViolation(cause)?.endsWith('_window')) throw cause
    const requested = await booking()
    const overlap = requested && (await findOverlap(db, requested))
    // What was in the way may have ended since.
    throw overlap
      ? overlapErrorForOperator(overlap, requested)
      : conflict('The time was taken just now: try again')
  }
}

/** The window that a session is planned for, or would be with so many minutes. */
export function bookingOf(
  session: { id?: string; robot_id: string; operator_id: string },
  from: Date,
  minutes: number,
): Booking {
  return {
    robotId: session.robot_id,
    operatorId: session.operator_id,
    from,
    until: new Date(from.getTime() + minutes * MS_PER_MINUTE),
    ...(session.id !== undefined && { sessionId: session.id }),
  }
}

interface PlannedSession {
  readonly scheduled_for: Date | null
  readonly started_at: Date | null
  readonly planned_minutes: number | null
}

/** Where the planned window of a session begins: at its scheduled time, or at its start when that came first. */
export function windowStart({ scheduled_for: planned, started_at: started }: PlannedSession): Date | null {
  if (planned === null || started === null) return planned ?? started
  return planned < started ? planned : started
}

/** When a session is planned to end; null when no end is planned. */
export function plannedEndOf(session: PlannedSession): Date | null {
  const start = windowStart(session)
  if (start === null || session.planned_minutes === null) return null
  return new Date(start.getTime() + session.planned_minutes * MS_PER_MINUTE)
}

/**
 * The planned length of an open session with so many minutes more. They count from its planned end, or from now when
 * that is over or none is planned.
 */
export function extendedMinutes(session: PlannedSession, additionalMinutes: number, at: Date): number {
  const elapsedMs = at.getTime() - (windowStart(session) ?? at).getTime()
  return Math.max(session.planned_minutes ?? 0, Math.floor(elapsedMs / MS_PER_MINUTE)) + additionalMinutes
}

/** What an open session would hold with so many minutes more. */
export function extendedBooking(
  session: PlannedSession & { id: string; robot_id: string; operator_id: string },
  additionalMinutes: number,
  at: Date,
): Booking {
  return bookingOf(session, windowStart(session) ?? at, extendedMinutes(session, additionalMinutes, at))
}
