import type { SessionLogEvent } from '@wheelhouse/protocol'
import { useMemo } from 'react'
import { eventText, type SessionParticipants } from '../../session/event-texts.ts'
import type { Overview } from '../data/overview.ts'

/** A line of the log of a session: an event, or a message of the chat. */
export interface LogEntry {
  readonly atMs: number
  readonly seq: number
  readonly kind: 'event' | 'chat' | 'stop'
  readonly text: string
  /** The author of a message. */
  readonly sender: string | undefined
}

const CHAT = 'chat.message'
const STOPS: ReadonlySet<string> = new Set(['session.stopped'])

/** Returns the log: of the recording, or of the session while the recording does not contain it yet. */
export function useLogEntries(
  overview: Overview | undefined,
  live: readonly SessionLogEvent[] | undefined,
  participants: SessionParticipants,
): readonly LogEntry[] {
  const { events, chat } = overview ?? {}
  return useMemo(() => {
    const recorded = [
      ...(events ?? [])
        .filter(({ type }) => type !== CHAT)
        .map(({ atMs, seq, type, data }) => eventEntry(atMs, seq, type, data, participants)),
      ...(chat ?? []).map(({ atMs, seq, senderName, body }) => chatEntry(atMs, seq, senderName, body)),
    ]
    const entries =
      recorded.length > 0 || !live ? recorded : live.map((event) => entryOf(event, participants))
    return entries.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
  }, [events, chat, live, participants])
}

function entryOf({ at, seq, type, data }: SessionLogEvent, participants: SessionParticipants): LogEntry {
  const atMs = Date.parse(at)
  return type === CHAT
    ? chatEntry(atMs, seq, String(data.sender_name), String(data.body))
    : eventEntry(atMs, seq, type, data, participants)
}

const chatEntry = (atMs: number, seq: number, sender: string, text: string): LogEntry => ({
  atMs,
  seq,
  kind: 'chat',
  text,
  sender,
})

const eventEntry = (
  atMs: number,
  seq: number,
  type: string,
  data: Readonly<Record<string, unknown>>,
  participants: SessionParticipants,
): LogEntry => ({
  atMs,
  seq,
  kind: STOPS.has(type) ? 'stop' : 'event',
  text: eventText({ session_id: '', seq, type: type as SessionLogEvent['type'], at: '', data }, participants),
  sender: undefined,
})
