/** From this time before the planned end on, the clock warns. */
const WARNING_MS = 5 * 60_000

export interface SessionClock {
  readonly elapsedMs: number
  /** From the start to the planned end; undefined when no end is planned. */
  readonly plannedMs: number | undefined
  /** `soon`: the planned end is less than five minutes away; `over`: it has passed. */
  readonly phase: 'running' | 'soon' | 'over'
}

/** Returns the clock of a session that has started. @param nowMs Unix milliseconds */
export function clockOf(
  session: { readonly started_at: string | null; readonly planned_end: string | null },
  nowMs: number,
): SessionClock | undefined {
  if (session.started_at === null) return undefined
  const startMs = Date.parse(session.started_at)
  const elapsedMs = Math.max(0, nowMs - startMs)
  if (session.planned_end === null) return { elapsedMs, plannedMs: undefined, phase: 'running' }
  const plannedMs = Math.max(0, Date.parse(session.planned_end) - startMs)
  const leftMs = plannedMs - elapsedMs
  return { elapsedMs, plannedMs, phase: leftMs <= 0 ? 'over' : leftMs <= WARNING_MS ? 'soon' : 'running' }
}
