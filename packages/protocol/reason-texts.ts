import type { CloseReason } from './close-codes.ts'
import { closeCodes } from './close-codes.ts'
import type { DropReason } from './driving-frames.ts'
import type { PlatformReason } from './reasons.ts'
import type { SpeedLimits } from './speed-limits.ts'

/**
 * Texts that a user interface shows instead of a code, without a capital and without a full stop. A code without a
 * text does not compile.
 */
export const reasonTexts: Readonly<Record<PlatformReason, string>> = {
  requested: 'as requested',
  emergency_stop: 'remote stop',
  robot_lost: 'the robot lost its connection',
  operator_lost: 'the operator lost the connection',
  operator_absent: 'the operator did not connect in time',
  control_vacant: 'nobody controls the robot',
  control_transferred: 'control changes hands',
  superseded: 'its operator was in another session on the robot',
  double_booked: 'another session was planned for the same time',
  pause_limit: 'the pause lasted too long',
  abandoned: 'the operator did not come back',
  ended: '',
  cancelled: '',
  robot_removed: 'the robot was removed',
  not_started: 'it was not started in time',
  deadman: 'no command came in time',
  latency: 'commands took too long',
  video_stale: 'the picture was frozen',
  session_paused: 'the session is paused',
  session_over: 'the session is over',
  stop_refused: 'the stop could not be recorded',
  gateway_draining: 'the gateway restarts',
  watchdog: 'the robot received no command in time',
  invalid_command: 'the robot does not accept a command',
  link_lost: 'the robot lost its connection',
}

/** Why a control frame or a goal did not reach the robot. */
export const dropTexts: Readonly<Record<DropReason, string>> = {
  robot_offline: 'the robot is not connected',
  invalid: 'the robot does not accept this command',
  session_paused: 'the session is paused',
  stopped: 'a stop is in force',
  not_holder: 'someone else controls the robot',
  out_of_order: 'out of order',
  expired: 'too old on arrival',
  latency: 'over the latency limit',
  video_stale: 'the picture is frozen',
  robot_slow: 'the robot does not keep up',
  no_goals: 'the robot accepts no such goals',
}

/** Why the gateway closed a connection and what to do, as a sentence without a full stop. */
export const closeTexts: Readonly<Record<CloseReason, string>> = {
  replaced: 'A newer connection took over',
  protocolError: 'The gateway could not read what this program sent. Update the program',
  tooSlow: 'This device reads too slowly',
  robotMoved: 'The robot is connected to another gateway now',
  tooFast: 'This program sent too much at once',
  credentialRevoked: 'The credential was revoked. Sign in again',
  ticketVoid: 'The ticket is no longer valid',
  notAllowed: 'You may no longer take part in this session',
  sessionOver: 'The session is over',
  draining: 'The gateway restarts',
  internalError: 'The gateway failed to handle this connection',
}

const CODE = /^[a-z]+(_[a-z]+)+$/

/** Returns the text of a reason code, or the unchanged reason that a participant wrote. */
export function reasonText(reason: unknown): string {
  if (typeof reason !== 'string') return ''
  if (Object.hasOwn(reasonTexts, reason)) return reasonTexts[reason as PlatformReason]
  return plainWords(reason.trim())
}

/** Why the gateway limits the speed of a robot. Later versions may send other reasons. */
export const limitReasonTexts = {
  latency: 'commands take long',
  picture_age: 'the picture is old',
  latency_unknown: 'the latency is not known yet',
} as const

/** Describes limits as `Speed limited to 50%: commands take long`; undefined at full speed. */
export function speedLimitText({ speed_scale: scale, reason }: SpeedLimits): string | undefined {
  if (scale === 1) return undefined
  const text = `Speed limited to ${Math.round(scale * 100)}%`
  if (reason === null) return text
  const known: Readonly<Record<string, string>> = limitReasonTexts
  return `${text}: ${Object.hasOwn(known, reason) ? known[reason] : plainWords(reason)}`
}

/** Returns the text of a close code; undefined for a code that the gateway does not use. */
export function closeText(code: number | undefined): string | undefined {
  const entry = Object.entries(closeCodes).find(([, known]) => known.code === code)
  return entry && closeTexts[entry[0] as CloseReason]
}

/** Returns a code that this version does not know as words: `gripper_stuck` becomes `gripper stuck`. */
export const plainWords = (text: string): string => (CODE.test(text) ? text.replaceAll('_', ' ') : text)
