import type { NotificationType } from '@wheelhouse/protocol'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** These types are mailed without delay, also to users who are connected to the hub: they may require a reaction. */
const URGENT: ReadonlySet<string> = new Set<NotificationType>([
  'session.stopped',
  'session.stop_clear_requested',
  'robot.lost',
])
/** Time for the user to read a notification, and for related notifications to become one mail. */
const DIGEST_DELAY_MS = MINUTE_MS
/** Maximum time between two decisions while a user is connected to the hub or an earlier mail is undelivered. */
const MAX_RECHECK_MS = 15 * MINUTE_MS

/** Limits of a user: mails within any hour, and mails that wait for the mail server. */
const ORDINARY_LIMITS = { perHour: 4, waiting: 1 }
/** The limits for an urgent mail. Ordinary mails count too. */
const URGENT_LIMITS = { perHour: 12, waiting: 3 }

/** Older notifications are not mailed: a mail this late is of no use. */
export const GIVE_UP_MS = 72 * HOUR_MS

interface Pending {
  readonly seq: number
  readonly type: string
  readonly created_at: Date
}

export interface DigestInput {
  /** Unread notifications that are not mailed yet, newest first. */
  readonly pending: readonly Pending[]
  /** Whether the user wants mail and has a verified address. */
  readonly canMail: boolean
  /** Whether the user is connected to the hub and receives notifications there. */
  readonly isAtHub: boolean
  /** When the quiet hours end that hold all these notifications back. */
  readonly heldUntil?: Date | undefined
  /** The user's mails of the last hour, and older undelivered ones; newest first. */
  readonly mails: readonly { readonly created_at: Date; readonly delivered_at: Date | null }[]
}

export type DigestDecision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'mail'; readonly urgent: boolean }
  | { readonly kind: 'later'; readonly at: Date }

export const isUrgent = (type: string): boolean => URGENT.has(type)

/** Returns when a notification is due to be mailed, unless the user reads it before. */
export const mailDueAt = (type: string, at: Date): Date => (isUrgent(type) ? at : addMs(at, DIGEST_DELAY_MS))

/** Decides whether to mail a user's unread notifications now, later or not at all. A pure function. */
export function decide(
  now: Date,
  { pending, canMail, isAtHub, heldUntil, mails }: DigestInput,
): DigestDecision {
  const [newest] = pending
  if (!newest || !canMail) return { kind: 'nothing' }
  const dueAt = pending
    .map((notification) => mailDueAt(notification.type, notification.created_at))
    .reduce(earliest)
  if (dueAt > now) return { kind: 'later', at: dueAt }
  if (heldUntil) return { kind: 'later', at: heldUntil }

  const hasUrgent = pending.some((notification) => isUrgent(notification.type))
  const limits = hasUrgent ? URGENT_LIMITS : ORDINARY_LIMITS
  const waiting = mails.filter((mail) => mail.delivered_at === null).length
  if ((isAtHub && !hasUrgent) || waiting >= limits.waiting) {
    // The older the newest notification is, the less often it is rechecked: presence and outages can last for hours.
    const ageMs = now.getTime() - newest.created_at.getTime()
    const waitMs = Math.min(Math.max(ageMs, DIGEST_DELAY_MS), MAX_RECHECK_MS)
    return { kind: 'later', at: addMs(now, waitMs) }
  }
  const oldestCounted = mails[limits.perHour - 1]
  const nextFreeAt = oldestCounted ? addMs(oldestCounted.created_at, HOUR_MS) : now
  return nextFreeAt > now ? { kind: 'later', at: nextFreeAt } : { kind: 'mail', urgent: hasUrgent }
}

/** Returns the start of the hour for which mails are counted. */
export const countedSince = (now: Date): Date => addMs(now, -HOUR_MS)

function addMs(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms)
}

const earliest = (a: Date, b: Date): Date => (b < a ? b : a)
