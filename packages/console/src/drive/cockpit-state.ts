import type { DriveState, SessionStatus } from '@wheelhouse/protocol'
import { robotStateTexts } from '../texts/code-texts.ts'
import type { LinkView } from './operator-connection.ts'

/** The state of the robot in one word, as all roles see it. */
export type RobotWord = 'DRIVING' | 'PAUSED' | 'STOPPED' | 'LOST' | 'UNKNOWN'

/**
 * Returns the word for the robot: by the gateway while connected, otherwise by the session; unknown while nothing arrives.
 * @param session.isSilent whether nothing has arrived from the gateway for a second
 */
export function robotWord(
  link: LinkView,
  state: DriveState | null,
  session: { readonly status: SessionStatus; readonly isStopped: boolean; readonly isSilent: boolean },
): RobotWord {
  if (session.isSilent) return 'UNKNOWN'
  const isKnown = link.phase === 'online' && state !== null
  if (isKnown && !state.robot_connected) return 'LOST'
  if (isKnown ? state.stop?.latched : session.isStopped) return 'STOPPED'
  return (isKnown ? state.status : session.status) === 'ACTIVE' ? 'DRIVING' : 'PAUSED'
}

export const robotWordTexts: Record<RobotWord, string> = {
  DRIVING: robotStateTexts.DRIVING,
  PAUSED: robotStateTexts.PAUSED,
  STOPPED: robotStateTexts.STOPPED,
  LOST: robotStateTexts.LOST,
  UNKNOWN: '?',
}

export const robotWordColors: Record<RobotWord, string> = {
  DRIVING: 'teal.9',
  PAUSED: 'orange.9',
  STOPPED: 'red.9',
  LOST: 'red.9',
  UNKNOWN: 'gray.7',
}
