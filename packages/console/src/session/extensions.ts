import type { SessionLogEvent } from '@wheelhouse/protocol'

/** The newest extension request in the event log. */
export interface Extension {
  readonly minutes: number
  readonly status: 'pending' | 'approved' | 'declined' | 'expired'
  readonly plannedMinutes: number | undefined
}

const statuses: Record<string, Extension['status']> = {
  'extension.requested': 'pending',
  'extension.approved': 'approved',
  'extension.declined': 'declined',
}

/** Returns the newest request in a log, undefined without one. The end of the session expires it. */
export function newestExtension(events: readonly SessionLogEvent[]): Extension | undefined {
  const last = events.findLast(({ type }) => type in statuses)
  if (!last) return undefined
  const { additional_minutes: minutes, planned_minutes: planned } = last.data
  const status = statuses[last.type] ?? 'pending'
  const ended = events.some(({ type, seq }) => type === 'session.ended' && seq > last.seq)
  return {
    minutes: Number(minutes),
    status: status === 'pending' && ended ? 'expired' : status,
    plannedMinutes: typeof planned === 'number' ? planned : undefined,
  }
}
