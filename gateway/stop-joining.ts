import type { Drive, PressedStop } from './drive.ts'

/**
 * Joins stops that wait to be recorded into one. Of any number no more has to be kept than a reason, the operator and
 * one owner or admin: so much decides who may clear them.
 */
export function joinStops(drive: Drive, stop: PressedStop, other: PressedStop | null): PressedStop {
  const ownerOf = (one: PressedStop) => (drive.roleOf(one.userId) === 'operator' ? one.ownerId : one.userId)
  const ownerId = ownerOf(stop) ?? (other ? ownerOf(other) : undefined)
  return ownerId === undefined || ownerId === stop.userId ? stop : { ...stop, ownerId }
}
