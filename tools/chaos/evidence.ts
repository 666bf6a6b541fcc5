import type { ChatMessage } from '@wheelhouse/protocol'

/** How an act ended, as far as who did it could see. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** A chat message that somebody sent. */
export interface SentMessage {
  readonly sessionId: string
  readonly senderId: string
  /** Unlike any other in the run. */
  readonly body: string
  /** What the platform answered; 'kept' when all it said is that the message is there; null when nothing is known. */
  answer: Pick<ChatMessage, 'id' | 'seq'> | 'kept' | null
}

/** A start that somebody asked for, with one idempotency key for all attempts. */
export interface AskedStart {
  readonly operatorId: string
  readonly robotId: string
  /** The session; 'kept' when all that is known is that it was started; null when nothing is known. */
  sessionId: string | 'kept' | null
}

/** A latched stop of which somebody was told that it holds. */
export interface RequestedStop {
  readonly sessionId: string
  readonly requestedAtMs: number
  readonly reportedAtMs: number
}

/** Control that reached a robot after it had been told of a stop, and then, by a new connection, that there is none. */
export interface Release {
  readonly robotId: string
  readonly sessionId: string
  readonly stoppedAtMs: number
  readonly drivenAtMs: number
}

/** While somebody wants to drive, silence of so long is a gap. */
export const GAP_MS = 600

/** While somebody wanted to drive, nothing was obeyed between these times. */
export interface Gap {
  readonly robotId: string
  readonly fromMs: number
  readonly toMs: number
}

/** What a client of the hub was given of one session's log, from the beginning. */
export interface View {
  readonly who: string
  readonly sessionId: string
  /** One line an entry, as `lineOf` makes them. */
  readonly lines: string[]
  /** It is not watched any more: what came after that is not missing. */
  ended: boolean
}

/** The notifications that a person was given; numbers count from 1. */
export interface NotificationLog {
  readonly who: string
  readonly userId: string
  received: number
}

/**
 * All that the bench has seen and been promised: the measure of what must be found in the end. Times are Unix
 * milliseconds of this machine's clock, which is also that of all processes.
 */
export function createEvidence() {
  const actions = new Map<string, Record<Outcome, number>>()
  return {
    acts: actions,
    messages: [] as SentMessage[],
    starts: [] as AskedStart[],
    stops: [] as RequestedStop[],
    ratings: [] as { sessionId: string; rating: number }[],
    releases: [] as Release[],
    gaps: [] as Gap[],
    views: [] as View[],
    notificationLogs: [] as NotificationLog[],
    /** What must never be seen and was, in words. Kept to a number that somebody still reads. */
    violations: createList(100),
    count(performAction: string, outcome: Outcome): void {
      const counts = actions.get(performAction) ?? { acknowledged: 0, refused: 0, unknown: 0 }
      counts[outcome]++
      actions.set(performAction, counts)
    },
  }
}
export type Evidence = ReturnType<typeof createEvidence>

/** A list that keeps its first entries and counts the rest. */
export function createList(most: number) {
  const entries: string[] = []
  let left = 0
  return {
    add(entry: string): void {
      if (entries.length < most) entries.push(entry)
      else left++
    },
    all: (): string[] => (left > 0 ? [...entries, `and ${left} more`] : [...entries]),
  }
}

/** One entry of a session's log as one line, the same from the hub and from the database. */
export function lineOf(entry: {
  seq: number
  type: string
  at: string
  data: Record<string, unknown>
}): string {
  const { seq, type, at, data } = entry
  return `${seq} ${type} ${at} ${String(type === 'chat.message' ? data.id : data.status)}`
}
