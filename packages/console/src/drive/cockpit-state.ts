import type { DriveState, SessionStatus } from '@wheelhouse/protocol'
import type { LinkView } from './operator-connection.ts'

/** The state of the robot in one word, as all roles see it. */
export type RobotWord = 'Driving' | 'Paused' | 'Stopped' | 'Lost'

/** Returns the word for the robot: by the gateway while connected, otherwise by the session. */
export function robotWord(
  link: LinkView,
  state: DriveState | null,
  session: { readonly status: SessionStatus; readonly isStopped: boolean },
): RobotWord {
  const isKnown = link.phase === 'online' && state !== null
  if (isKnown && !state.robot_connected) return 'Lost'
  if (isKnown ? state.stop?.latched : session.isStopped) return 'Stopped'
  return (isKnown ? state.status : session.status) === 'ACTIVE' ? 'Driving' : 'Paused'
}

export const robotWordColors: Record<RobotWord, string> = {
  Driving: 'teal.9',
  Paused: 'orange.9',
  Stopped: 'red.9',
  Lost: 'red.9',
}
