import type { Schemas } from '@wheelhouse/sdk'

type Stats = Schemas['ClientStats']

/** In the order in which they are shown. */
export const robotStatuses: readonly (readonly [keyof Stats['robots_by_status'], string])[] = [
  ['AVAILABLE', 'Online'],
  ['IN_SESSION', 'In a session'],
  ['OFFLINE', 'Offline'],
]

export const sessionStatuses: readonly (readonly [keyof Stats['sessions_by_status'], string])[] = [
  ['PENDING', 'Planned'],
  ['ACTIVE', 'Active'],
  ['PAUSED', 'Paused'],
  ['COMPLETED', 'Completed'],
  ['CANCELLED', 'Cancelled'],
]

/** `2026-10` as "Oct 2026". */
export const monthLabel = (month: string): string =>
  new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )
