import { useQueryClient } from '@tanstack/react-query'
import type { SessionLogEvent, SessionStatus } from '@wheelhouse/protocol'
import { useEffect, useRef, useState } from 'react'
import { useNow } from '../base/time.tsx'
import { type SessionDetail, sessionKey } from './session-query.ts'

/** The billed time as the page knows it at one moment. */
interface BillableReading {
  readonly loadedSeconds: number
  readonly loadedAtMs: number
  readonly isRunning: boolean
}

/**
 * Returns a function that returns the billed seconds of one session, which never fall: what the platform last answered, and
 * while the session runs the time since. A status arrives before the answer that belongs to it, and an outage is subtracted
 * later.
 */
export function createBillableClock(): (reading: BillableReading, nowMs: number) => number {
  let highest = 0
  return ({ loadedSeconds, loadedAtMs, isRunning }, nowMs) => {
    const seconds = loadedSeconds + (isRunning ? Math.max(0, nowMs - loadedAtMs) / 1_000 : 0)
    highest = Math.max(highest, seconds)
    return highest
  }
}

/**
 * Returns the billed seconds of a session so far. Keep one component for one session.
 * @param status the newest known status
 * @param isSilent whether the page has no news: the time then stands, because the session may be paused
 */
export function useBillableSeconds(props: {
  readonly session: SessionDetail
  readonly status: SessionStatus
  readonly fetchedAtMs: number
  readonly isSilent: boolean
}): number {
  const { session, status, fetchedAtMs, isSilent } = props
  const [read] = useState(createBillableClock)
  const nowMs = useNow()
  const loadedAgainMs = useLoadAfterSilence(session.id, isSilent)
  const isRunning =
    status === 'ACTIVE' && session.status === 'ACTIVE' && !isSilent && fetchedAtMs >= loadedAgainMs
  return read({ loadedSeconds: session.billable_seconds, loadedAtMs: fetchedAtMs, isRunning }, nowMs)
}

/** Loads the session again after a silence. Returns the end of the last silence in Unix milliseconds, 0 without one. */
function useLoadAfterSilence(sessionId: string, isSilent: boolean): number {
  const queries = useQueryClient()
  const wasSilent = useRef(false)
  const [endedMs, setEndedMs] = useState(0)
  useEffect(() => {
    if (wasSilent.current && !isSilent) {
      setEndedMs(Date.now())
      void queries.invalidateQueries({ queryKey: sessionKey(sessionId) })
    }
    wasSilent.current = isSilent
  }, [isSilent, queries, sessionId])
  return endedMs
}

/** Returns when the session entered its status, in Unix milliseconds, undefined if the log does not contain it. */
export function statusSince(events: readonly SessionLogEvent[], status: SessionStatus): number | undefined {
  const statusEvents = events.filter(({ data }) => typeof data.status === 'string')
  const before = statusEvents.findLastIndex(({ data }) => data.status !== status)
  const first = statusEvents[before + 1]
  return first && Date.parse(first.at)
}

/**
 * Returns what the viewer would earn in a session or pay for it if it ended now: started minutes times the rate, undefined without
 * one, and for a session of an own operator, which costs nothing. This is an estimate, because only the platform knows all outages. The charge is final at the end of the session.
 */
export function amountOf(session: SessionDetail, billableSeconds: number) {
  const { rate_cents_per_minute: rate } = session
  if (rate === null || session.own_operator) return undefined
  const minutes = Math.ceil(Math.max(0, billableSeconds) / 60)
  const isEarned = 'operator_share_percent' in session
  const charge = minutes * rate
  const cents = isEarned ? Math.floor((charge * (session.operator_share_percent ?? 0)) / 100) : charge
  return { rate, minutes, isEarned, cents }
}
