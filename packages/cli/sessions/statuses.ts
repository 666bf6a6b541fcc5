import type { Schemas } from '@wheelhouse/sdk'

type SessionStatus = Schemas['SessionStatus']

/** How a session can stand, for commands that filter by it. */
export const SESSION_STATUSES: readonly SessionStatus[] = [
  'PENDING',
  'ACTIVE',
  'PAUSED',
  'COMPLETED',
  'CANCELLED',
]
