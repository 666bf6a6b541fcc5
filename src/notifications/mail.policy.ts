import type { NotificationType } from '@wheelhouse/protocol'

/** Told at once: somebody may have to act now. */
const URGENT: ReadonlySet<string> = new Set<NotificationType>(['session.stopped', 'robot.lost'])
/** Time to read it, and for what belongs together to become one mail. */
const PATIENCE_MS = 60_000

export const isUrgent = (type: string): boolean => URGENT.has(type)

/** When a notification is due to be mailed, unless it is read before. */
export const mailDueAt = (type: string, at: Date): Date =>
  isUrgent(type) ? at : new Date(at.getTime() + PATIENCE_MS)
