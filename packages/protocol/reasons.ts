import { z } from 'zod'

/** Why the platform pauses a session. A participant may give a reason of their own instead. */
export const PauseReason = z.enum([
  'requested',
  'emergency_stop',
  'robot_lost',
  'operator_lost',
  /** The operator did not connect to the gateway within the time allowed. */
  'operator_absent',
])
export type PauseReason = z.infer<typeof PauseReason>

/** Why a session ended or was cancelled. A participant may give a reason of their own instead. */
export const EndReason = z.enum([
  'ended',
  'cancelled',
  'robot_lost',
  'robot_removed',
  'not_started',
  /** Its operator was in another session on the robot when it was due. */
  'superseded',
  /** An update found it planned for the same time as another session. */
  'double_booked',
  /** Its pause lasted too long. */
  'pause_limit',
])
export type EndReason = z.infer<typeof EndReason>

/** Why a robot is halted, where no participant wrote a reason. */
export const StopReason = z.enum([
  /** A participant requested a remote stop without a reason. */
  'emergency_stop',
  /** No control frame came in time. */
  'deadman',
  /** The operator's connection broke. */
  'operator_lost',
  /** Commands take longer than the robot's `latency_limit_ms`. */
  'latency',
  'session_paused',
  'session_over',
  /** The database refused to record a remote stop; the robot stays halted until the next command. */
  'stop_refused',
  /** The gateway ends before the robot has found another one. */
  'gateway_draining',
  /** The robot's own program halted it: no command came in time. */
  'watchdog',
  /** The robot's own program halted it: its connection broke. */
  'link_lost',
])
export type StopReason = z.infer<typeof StopReason>

/** Every reason that the platform writes where a participant can write one too. */
export type PlatformReason = PauseReason | EndReason | StopReason
