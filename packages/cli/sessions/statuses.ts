import type { Schemas } from '@wheelhouse/sdk'

type SessionStatus = Schemas['SessionStatus']

/** Statuses of a session, for filter options. */
export const SESSION_STATUSES: readonly SessionStatus[] = [
  'PENDING',
  'ACTIVE',
  'PAUSED',
  'COMPLETED',
  'CANCELLED',
]
