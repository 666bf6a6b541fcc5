import type { SessionStatus } from '@wheelhouse/protocol'
import { useEffect, useState } from 'react'
import type { SessionDetail } from '../session/session-query.ts'
import { usePerforming, useSessionAction } from '../session/session-query.ts'

/** The actions of the operator on the session, and the error of the last one. */
export interface DriveActions {
  readonly isPaused: boolean
  readonly canResume: boolean
  readonly isBusy: boolean
  /** Why the last action failed; undefined otherwise. */
  readonly error: unknown
  pause(): void
  /** Resumes the session; while a stop is being cleared, after that. */
  resume(): void
  end(): Promise<unknown>
}

export function useDriveActions(session: SessionDetail, status: SessionStatus): DriveActions {
  const action = useSessionAction(session.id)
  const { stop, connected } = session.control
  const isPaused = status === 'PAUSED'
  const canResume = isPaused && stop === null && connected
  const isClearing = usePerforming(session.id, 'clear_stop')
  const [resumesNext, setResumesNext] = useState(false)
  const { mutate } = action
  // After the next render, which knows the newest state of the session.
  useEffect(() => {
    if (!resumesNext || (!canResume && isClearing())) return
    setResumesNext(false)
    if (canResume) mutate('resume')
  })
  return {
    isPaused,
    canResume,
    isBusy: action.isPending,
    error: action.error ?? undefined,
    pause: () => {
      if (!isPaused) mutate('pause')
    },
    resume: () => {
      if (isPaused) setResumesNext(true)
    },
    end: () => action.mutateAsync('end'),
  }
}
