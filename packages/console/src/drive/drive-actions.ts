import type { SessionStatus } from '@wheelhouse/protocol'
import type { SessionDetail } from '../session/session-query.ts'
import { useSessionAction } from '../session/session-roles.ts'

/** The actions of the operator on the session, and the error of the last one. */
export interface DriveActions {
  readonly isPaused: boolean
  readonly canResume: boolean
  readonly isBusy: boolean
  /** Why the last action failed; undefined otherwise. */
  readonly error: unknown
  pause(): void
  resume(): void
  end(): Promise<unknown>
}

export function useDriveActions(session: SessionDetail, status: SessionStatus): DriveActions {
  const action = useSessionAction(session.id)
  const { stop, connected } = session.control
  const isPaused = status === 'PAUSED'
  const canResume = isPaused && stop === null && connected
  return {
    isPaused,
    canResume,
    isBusy: action.isPending,
    error: action.error ?? undefined,
    pause: () => {
      if (!isPaused) action.mutate('pause')
    },
    resume: () => {
      if (canResume) action.mutate('resume')
    },
    end: () => action.mutateAsync('end'),
  }
}
