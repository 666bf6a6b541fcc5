import type { NotificationType } from '@wheelhouse/protocol'

/** A notification that is to be written for one user. */
export interface NewNotification {
  readonly userId: string
  readonly type: NotificationType
  readonly data: Record<string, unknown>
  /** Whether the user caused it. The user then gets no mail about it. */
  readonly causedByUser?: boolean
}
