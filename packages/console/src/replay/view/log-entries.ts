import type { SessionLogEvent } from '@wheelhouse/protocol'
import { useMemo } from 'react'
import { labelInSentence } from '../../base/format.ts'
import { eventShape, eventText, type SessionParticipants } from '../../session/event-texts.ts'
import { t } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import { type LinkSpan, type LogEntry, linkText } from './tracks.ts'

const CHAT = 'chat.message'

/** Returns the log: of the recording, or of the session while the recording does not contain it yet. */
export function useLogEntries(
  overview: Overview | undefined,
  links: readonly LinkSpan[],
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
    return [...entries, ...linkEntries(links)].sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
  }, [events, chat, links, live, participants])
}

function entryOf({ at, seq, type, data }: SessionLogEvent, participants: SessionParticipants): LogEntry {
  const atMs = Date.parse(at)
  return type === CHAT
    ? chatEntry(atMs, seq, String(data.sender_name), String(data.body))
    : eventEntry(atMs, seq, type, data, participants)
}

/** Returns an entry for each time at which the connection became slow, and for the end of that. */
const linkEntries = (links: readonly LinkSpan[]): LogEntry[] =>
  links
    .filter(({ kind }, index) => kind !== 'live' || (index > 0 && links[index - 1]?.kind !== 'live'))
    .map((span) => ({
      atMs: span.fromMs,
      seq: 0,
      shape: span.kind === 'live' ? 'live' : 'delayed',
      text: t('replay.link.entry', { state: labelInSentence(linkText(span)) }),
      sender: undefined,
    }))

const chatEntry = (atMs: number, seq: number, sender: string, text: string): LogEntry => ({
  atMs,
  seq,
  shape: 'off',
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
  shape: eventShape(type),
  text: eventText({ session_id: '', seq, type: type as SessionLogEvent['type'], at: '', data }, participants),
  sender: undefined,
})
