import type { SessionLogEvent } from '@wheelhouse/protocol'

/** The newest request for more time, as the log tells it. */
export interface Extension {
  readonly minutes: number
  readonly answer: 'waiting' | 'approved' | 'declined' | 'expired'
  readonly plannedMinutes: number | undefined
}

const answers: Record<string, Extension['answer']> = {
  'extension.requested': 'waiting',
  'extension.approved': 'approved',
  'extension.declined': 'declined',
}

/** The newest request in a log; undefined when nobody has asked. A session that ends lets it expire. */
export function newestExtension(events: readonly SessionLogEvent[]): Extension | undefined {
  const last = events.findLast(({ type }) => type in answers)
  if (!last) return undefined
  const { additional_minutes: minutes, planned_minutes: planned } = last.data
  const answer = answers[last.type] ?? 'waiting'
  const over = events.some(({ type, seq }) => type === 'session.ended' && seq > last.seq)
  return {
    minutes: Number(minutes),
    answer: answer === 'waiting' && over ? 'expired' : answer,
    plannedMinutes: typeof planned === 'number' ? planned : undefined,
  }
}
