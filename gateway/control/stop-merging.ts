import type { ControlSession, PendingStop } from './control-session.ts'

/**
 * Joins stops that wait to be recorded into one. Of any number no more has to be kept than a reason, the operator and
 * one owner or admin: so much decides who may clear them.
 */
export function mergeStops(
  controlSession: ControlSession,
  stop: PendingStop,
  other: PendingStop | null,
): PendingStop {
  const ownerOf = (request: PendingStop) =>
    controlSession.roleOf(request.userId) === 'operator' ? request.ownerId : request.userId
  const ownerId = ownerOf(stop) ?? (other ? ownerOf(other) : undefined)
  return ownerId === undefined || ownerId === stop.userId ? stop : { ...stop, ownerId }
}
