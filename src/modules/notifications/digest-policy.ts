import type { NotificationType } from '@wheelhouse/protocol'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Told at once, also to who is at the hub: somebody may have to act now. */
const URGENT: ReadonlySet<string> = new Set<NotificationType>([
  'session.stopped',
  'session.stop_clear_requested',
  'robot.lost',
])
/** Time to read it, and for what belongs together to become one mail. */
const DIGEST_DELAY_MS = MINUTE_MS
/** Longest between two looks at what waits for somebody to leave the hub or for an earlier mail. */
const LONGEST_WAIT_MS = 15 * MINUTE_MS

/** Mails a person gets within any hour, and how many of theirs may wait for the mail server, at most. */
const ordinary = { perHour: 4, waiting: 1 }
/** The same for what is urgent, counted together with the others. */
const urgent = { perHour: 12, waiting: 3 }

/** What is older than this is not mailed any more: of something this old a mail is no news. */
export const GIVE_UP_MS = 72 * HOUR_MS

interface Pending {
  readonly seq: number
  readonly type: string
  readonly created_at: Date
}

export interface DigestInput {
  /** Unread ones that no mail has told of, newest first. */
  readonly pending: readonly Pending[]
  /** Whether the person wants mail and has an address. */
  readonly canMail: boolean
  /** Whether they are told live just now. */
  readonly isAtHub: boolean
  /** Their mails of the last hour, and older ones that are not delivered; newest first. */
  readonly mails: readonly { readonly created_at: Date; readonly delivered_at: Date | null }[]
}

export type DigestDecision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'mail'; readonly urgent: boolean }
  | { readonly kind: 'later'; readonly at: Date }

export const isUrgent = (type: string): boolean => URGENT.has(type)

/** When a notification is due to be mailed, unless it is read before. */
export const mailDueAt = (type: string, at: Date): Date => (isUrgent(type) ? at : addMs(at, DIGEST_DELAY_MS))

/** Whether to write to somebody now what they have not read; a pure function of what is known of them. */
export function decide(now: Date, { pending, canMail, isAtHub, mails }: DigestInput): DigestDecision {
  const [newest] = pending
  if (!newest || !canMail) return { kind: 'nothing' }
  const dueAt = pending
    .map((notification) => mailDueAt(notification.type, notification.created_at))
    .reduce(earliest)
  if (dueAt > now) return { kind: 'later', at: dueAt }

  const hasUrgent = pending.some((notification) => isUrgent(notification.type))
  const limits = hasUrgent ? urgent : ordinary
  const waiting = mails.filter((mail) => mail.delivered_at === null).length
  if ((isAtHub && !hasUrgent) || waiting >= limits.waiting) {
    // The older it is, the less often it is looked at: people stay for hours, outages last.
    const ageMs = now.getTime() - newest.created_at.getTime()
    const waitMs = Math.min(Math.max(ageMs, DIGEST_DELAY_MS), LONGEST_WAIT_MS)
    return { kind: 'later', at: addMs(now, waitMs) }
  }
  const oldestCounted = mails[limits.perHour - 1]
  const nextFreeAt = oldestCounted ? addMs(oldestCounted.created_at, HOUR_MS) : now
  return nextFreeAt > now ? { kind: 'later', at: nextFreeAt } : { kind: 'mail', urgent: hasUrgent }
}

/** Mails older than this do not count any more. */
export const countedSince = (now: Date): Date => addMs(now, -HOUR_MS)

function addMs(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms)
}

const earliest = (a: Date, b: Date): Date => (b < a ? b : a)
