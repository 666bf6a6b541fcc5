/** Packets of Engine.IO and Socket.IO, identified by their first bytes instead of parsing. */

const OPENED = '0'.charCodeAt(0)
export const PING = '2'.charCodeAt(0)
const MESSAGE = '4'.charCodeAt(0)
/** The beginning of a Socket.IO event. */
export const EVENT = '42'
const SESSION_EVENT = Buffer.from(`${EVENT}["session:event"`)
const SEQ = Buffer.from('"seq":')
const ZERO = '0'.charCodeAt(0)
const NINE = '9'.charCodeAt(0)

export type PacketKind = 'opened' | 'connected' | 'closed' | 'event' | 'answer' | 'refused' | 'other'

/** Types by the digit after `4`. */
const kinds: Record<number, PacketKind> = {
  [ZERO]: 'connected',
  [ZERO + 1]: 'closed',
  [ZERO + 2]: 'event',
  [ZERO + 3]: 'answer',
  [ZERO + 4]: 'refused',
}

export function kindOf(data: Buffer, start: number): PacketKind {
  if (data[start] === OPENED) return 'opened'
  if (data[start] !== MESSAGE) return 'other'
  return kinds[data[start + 1] as number] ?? 'other'
}

/** Returns whether an event belongs to a session's log. */
export function isSessionEvent(data: Buffer, start: number): boolean {
  const end = Math.min(data.length, start + SESSION_EVENT.length)
  return data.compare(SESSION_EVENT, 0, SESSION_EVENT.length, start, end) === 0
}

/**
 * Returns the number of a session's event: the first `"seq":` in it, because hub and PostgreSQL both write it before
 * that of the contained message. NaN for a packet without one.
 */
export function seqOf(data: Buffer, start: number, end: number): number {
  const found = data.indexOf(SEQ, start)
  if (found < 0 || found >= end) return Number.NaN
  let value = 0
  let at = found + SEQ.length
  for (; at < end; at++) {
    const digit = data[at] as number
    if (digit < ZERO || digit > NINE) break
    value = value * 10 + digit - ZERO
  }
  return at === found + SEQ.length ? Number.NaN : value
}

/** Returns the event of a new message as the outbox contains it. */
export interface SessionEventRecord {
  readonly at: string
  readonly seq: number
  readonly data: Readonly<Record<string, unknown>>
  readonly type: 'chat.message'
  readonly session_id: string
}

/** Returns an event with keys in the order of PostgreSQL's `jsonb`, so that every contender sends the same bytes. */
export function eventOf(sessionId: string, seq: number): SessionEventRecord {
  const at = '2026-11-20T09:31:05.000Z'
  return {
    at,
    seq,
    data: {
      id: '0197a7f0-5a4e-7c4b-8f5e-2f6a1d3c4b5a',
      seq,
      body: 'Careful with the vase: it is a hand to the left of the position on the map now',
      sender_id: '0197a7f0-5a4e-7c4b-8f5e-9e8d7c6b5a49',
      created_at: at,
      session_id: sessionId,
      sender_name: 'operator 17',
      sender_role: 'operator',
    },
    type: 'chat.message',
    session_id: sessionId,
  }
}
