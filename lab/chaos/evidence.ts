import type { ChatMessage } from '@wheelhouse/protocol'
import type { RecordingFigures } from './recordings.ts'

/** Outcome of an action, as far as its actor could see. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** A chat message that an actor sent. */
export interface SentMessage {
  readonly sessionId: string
  readonly senderId: string
  /** Unique in the run. */
  readonly body: string
  /** The platform's answer; 'kept' when it only confirmed that the message is stored; null when the outcome is unknown. */
  answer: Pick<ChatMessage, 'id' | 'seq'> | 'kept' | null
}

/** A start that an operator requested, with one idempotency key for all attempts. */
export interface RequestedStart {
  readonly operatorId: string
  readonly robotId: string
  /** The session; 'kept' when the platform only confirmed the start; null when the outcome is unknown. */
  sessionId: string | 'kept' | null
}

/** An acknowledged latched stop. */
interface RequestedStop {
  readonly sessionId: string
  readonly requestedAtMs: number
  readonly reportedAtMs: number
}

/** Control that reached a robot after a stop, on a new connection whose welcome reported no stop. */
interface Release {
  readonly robotId: string
  readonly sessionId: string
  readonly stoppedAtMs: number
  readonly drivenAtMs: number
}

/** While an operator drives, a silence of this length is a gap. */
export const GAP_MS = 600

/** A time in which an operator drove and the robot received no control. */
export interface Gap {
  readonly robotId: string
  readonly fromMs: number
  readonly toMs: number
}

/** The log of one session as a client of the hub received it, from the beginning. */
export interface View {
  readonly who: string
  readonly sessionId: string
  /** One line per entry, in the format of `lineOf`. */
  readonly lines: string[]
  /** The client has stopped watching: later entries may be missing. */
  ended: boolean
}

/** The notifications that a user received; numbers count from 1. */
export interface NotificationLog {
  readonly who: string
  readonly userId: string
  received: number
}

/**
 * Records everything that the actors saw and that the platform acknowledged; the checks compare it with the final state.
 * Times are Unix milliseconds of this machine's clock, which all processes share.
 */
export function createEvidence() {
  const actions = new Map<string, Record<Outcome, number>>()
  return {
    actions,
    messages: [] as SentMessage[],
    starts: [] as RequestedStart[],
    stops: [] as RequestedStop[],
    ratings: [] as { sessionId: string; rating: number }[],
    releases: [] as Release[],
    gaps: [] as Gap[],
    views: [] as View[],
    notificationLogs: [] as NotificationLog[],
    /** By session: the numbered commands that its robot received, with the times. */
    commands: new Map<string, Map<number, number>>(),
    recordings: {
      recordings: 0,
      segments: 0,
      messages: 0,
      commands: 0,
      missing: 0,
      gaps: new Map(),
    } as RecordingFigures,
    /** Descriptions of events that must never happen. Limited to a number that is still readable. */
    violations: createList(100),
    count(performAction: string, outcome: Outcome): void {
      const counts = actions.get(performAction) ?? { acknowledged: 0, refused: 0, unknown: 0 }
      counts[outcome]++
      actions.set(performAction, counts)
    },
  }
}
export type Evidence = ReturnType<typeof createEvidence>

/** Creates a list that stores its first entries and counts the rest. */
function createList(most: number) {
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

/** Formats one entry of a session's log as one line, equal for hub and database. */
export function lineOf(entry: {
  seq: number
  type: string
  at: string
  data: Record<string, unknown>
}): string {
  const { seq, type, at, data } = entry
  return `${seq} ${type} ${at} ${String(type === 'chat.message' ? data.id : data.status)}`
}
