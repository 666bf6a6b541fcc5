/** Late sweeps in a row that only look. */
const GRACES = 1
/** The same when the database could not be read before, so that gateways surely could not renew their rows. */
const GRACES_AFTER_OUTAGE = 2

/**
 * How long sessions of lost robots are kept after a late sweep: a gateway may need as long to store that a robot has returned, because
 * a statement on a connection that died in the meantime ends after five seconds.
 */
const RETURN_MS = 6_000

interface Silence {
  /** The content of the gateway's row. */
  readonly mark: string
  readonly sinceMs: number
  /** How often a late sweep began its time again. */
  readonly graces: number
}

/**
 * Measures how long gateways did not renew their rows, and decides which sweeps may act on it, by the clock of this process. The
 * database's clock would declare every robot lost after an outage of the database.
 *
 * A late sweep only looks: this process, the database, and gateways with them, may have been suspended, so that no gateway could store
 * anything. Silent gateways get their full time again, once. The next sweep acts, however late it is, so that a machine
 * that is always late still finds dead gateways.
 */
export function createGatewaySilences(timeoutMs: number) {
  const silences = new Map<string, Silence>()
  let lastAnswerMs: number | undefined
  let failedSince = false
  /** Sweeps in a row, up to the last one, that only looked. */
  let graces = 0
  /** From when on sessions may end. */
  let endsFromMs = Number.NEGATIVE_INFINITY

  /** Returns whether too much time has passed since the database answered last. */
  function isLate(nowMs: number): boolean {
    return lastAnswerMs === undefined ? failedSince : nowMs - lastAnswerMs > timeoutMs / 2
  }

  return {
    /** Records that the database could not be read. */
    noteFailure(): void {
      failedSince = true
    },

    /** Records the answer of the database: the mark of every gateway. Returns whether this sweep may act on it. */
    noteAnswer(
      gateways: readonly { readonly id: string; readonly seenMark: string }[],
      nowMs: number,
    ): boolean {
      const maxGraces = failedSince ? GRACES_AFTER_OUTAGE : GRACES
      const wasLate = isLate(nowMs)
      const isGrace = wasLate && graces < maxGraces
      if (wasLate) endsFromMs = isGrace ? nowMs + RETURN_MS : nowMs
      graces = isGrace ? graces + 1 : 0
      failedSince = false
      lastAnswerMs = nowMs
      const known = new Set(gateways.map(({ id }) => id))
      for (const id of silences.keys()) if (!known.has(id)) silences.delete(id)
      for (const { id, seenMark: mark } of gateways) {
        const silence = silences.get(id)
        if (silence?.mark !== mark) silences.set(id, { mark, sinceMs: nowMs, graces: 0 })
        else if (isGrace && silence.graces < maxGraces)
          silences.set(id, { mark, sinceMs: nowMs, graces: silence.graces + 1 })
      }
      return !isGrace
    },

    /** Returns whether a sweep that acts may also end the sessions of lost robots. */
    mayEndSessions: (): boolean => lastAnswerMs !== undefined && lastAnswerMs >= endsFromMs,

    /** Returns for how long a gateway has been silent, up to the last answer. */
    silentMs(id: string): number {
      const silence = silences.get(id)
      return silence && lastAnswerMs !== undefined ? lastAnswerMs - silence.sinceMs : 0
    },

    forget: (id: string) => silences.delete(id),
  }
}
