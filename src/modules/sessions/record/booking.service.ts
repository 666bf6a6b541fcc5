import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { type AppError, conflict, exclusionViolation } from '../../../core/errors/errors.ts'
import { PLANNED_WINDOW } from './session.entity.ts'

/** Default planned length of a scheduled session. */
export const DEFAULT_PLANNED_MINUTES = 60
const MS_PER_MINUTE = 60_000

/** A robot and an operator for a time window. */
export interface Booking {
  readonly robotId: string
  readonly operatorId: string
  readonly from: Date
  readonly until: Date
  /** The session of the booking, if it exists. */
  readonly sessionId?: string
}

interface Overlap {
  readonly id: string
  readonly operator_id: string
  readonly robot_name: string
  readonly starts_at: Date
  readonly ends_at: Date
}

/** The end of the planned window; null when no end is planned. For queries on `sessions` without joins. */
export const plannedEnd: RawBuilder<Date | null> = sql<Date | null>`upper(${sql.raw(PLANNED_WINDOW)})`

/** Selects the planned windows of sessions that are not over. */
const plannedWindows = (db: Db) =>
  db
    .selectFrom('sessions')
    .select(['id', 'robot_id', 'operator_id', sql<string>`${sql.raw(PLANNED_WINDOW)}`.as('span')])
    .where('status', 'in', ['PENDING', 'ACTIVE', 'PAUSED'])
    .where('planned_minutes', 'is not', null)

/** Returns a session whose planned window overlaps: preferably one of the same operator, else one on the same robot. */
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

/** Formats a time as `2026-11-20 09:30`, in UTC, because readers are in different time zones. */
const formatUtc = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ')

/**
 * Returns the error for the operator of the booking. It names the operator's own session, but only the window of
 * another operator's session.
 */
function overlapErrorForOperator(overlap: Overlap, { operatorId }: Booking): AppError {
  const { id, robot_name, starts_at, ends_at } = overlap
  const window = `from ${formatUtc(starts_at)} to ${formatUtc(ends_at)} UTC`
  return overlap.operator_id === operatorId
    ? conflict(
        'booking_overlap',
        `The operator already has a session on ${robot_name} planned ${window} (session ${id}). Choose another time.`,
      )
    : conflict('booking_overlap', `The robot is already booked ${window}. Choose another time or robot.`)
}

/** Returns the error for the client of the session, without details of the operator's other sessions. */
export function overlapErrorForClient(overlap: Overlap, { operatorId }: Booking): AppError {
  const at = `${formatUtc(overlap.starts_at)} UTC`
  return overlap.operator_id === operatorId
    ? conflict('booking_overlap', `The operator has another session planned at ${at}. Ask for fewer minutes.`)
    : conflict('booking_overlap', `The robot is booked from ${at}. Ask for fewer minutes.`)
}

/**
 * Runs work that may plan a session for a booked time. Turns a violation of the exclusion constraints into a conflict
 * that names the overlapping session.
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
    // The overlapping session may have ended since.
    throw overlap
      ? overlapErrorForOperator(overlap, requested)
      : conflict('booking_overlap', 'Another session was booked for this time a moment ago. Try again.')
  }
}

/** Returns the booking of a session with the given start and length. */
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

/** Returns the start of a session's planned window: its scheduled time, or its actual start if that is earlier. */
function windowStart({ scheduled_for: planned, started_at: started }: PlannedSession): Date | null {
  if (planned === null || started === null) return planned ?? started
  return planned < started ? planned : started
}

/** Returns the planned end of a session; null when no end is planned. */
export function plannedEndOf(session: PlannedSession): Date | null {
  const start = windowStart(session)
  if (start === null || session.planned_minutes === null) return null
  return new Date(start.getTime() + session.planned_minutes * MS_PER_MINUTE)
}

/**
 * Returns the planned length of an open session after an extension. The extension counts from the planned end, or from
 * now if the planned end has passed or no end is planned.
 */
export function extendedMinutes(session: PlannedSession, additionalMinutes: number, at: Date): number {
  const elapsedMs = at.getTime() - (windowStart(session) ?? at).getTime()
  return Math.max(session.planned_minutes ?? 0, Math.floor(elapsedMs / MS_PER_MINUTE)) + additionalMinutes
}

/** Returns the booking of an open session after an extension. */
export function extendedBooking(
  session: PlannedSession & { id: string; robot_id: string; operator_id: string },
  additionalMinutes: number,
  at: Date,
): Booking {
  return bookingOf(session, windowStart(session) ?? at, extendedMinutes(session, additionalMinutes, at))
}
