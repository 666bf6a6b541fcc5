import type { ControlKind, Lease } from '@wheelhouse/protocol'

/** Returns a control lease that a user holds; null for nobody. */
export const leaseOf = (userId: string | null, epoch = 1, kind: ControlKind = 'operator'): Lease => ({
  epoch,
  holder:
    userId === null
      ? null
      : { participant_id: userId, kind, user_id: userId, name: 'Grace', since: '2026-11-20T09:30:00.000Z' },
})
