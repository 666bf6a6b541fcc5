import { z } from 'zod'

/** Why the platform pauses a session. A participant may write a free text instead. */
export const PauseReason = z.enum([
  'requested',
  'emergency_stop',
  'robot_lost',
  'operator_lost',
  /** The operator did not connect to the gateway within the time allowed. */
  'operator_absent',
  /** Nobody controls the robot. */
  'control_vacant',
])
export type PauseReason = z.infer<typeof PauseReason>

/** Why a session ended or was cancelled. A participant may write a free text instead. */
export const EndReason = z.enum([
  'ended',
  'cancelled',
  'robot_lost',
  'robot_removed',
  'not_started',
  /** At the planned start, the operator was in another session on the robot. */
  'superseded',
  /** A migration found another session that was planned for the same time. */
  'double_booked',
  /** The pause lasted too long. */
  'pause_limit',
  /** The operator of the paused session did not come back. */
  'abandoned',
])
export type EndReason = z.infer<typeof EndReason>

/** Why a robot is halted when no participant wrote a reason. */
export const StopReason = z.enum([
  /** A participant requested a remote stop without a reason. */
  'emergency_stop',
  /** No control frame arrived in time. */
  'deadman',
  /** The operator's connection broke. */
  'operator_lost',
  /** Commands take longer than the robot's `latency_limit_ms`. */
  'latency',
  /** The operator's picture is older than the robot's `video_limit_ms`. */
  'video_stale',
  /** Control changes hands. */
  'control_transferred',
  'session_paused',
  'session_over',
  /** The database refused to record a remote stop; the robot stays halted until the next command. */
  'stop_refused',
  /** The gateway ends before the robot has connected to another one. */
  'gateway_draining',
  /** The robot's own program halted it: no command arrived in time. */
  'watchdog',
  /** The robot's own program halted it: its control schema does not allow a command. */
  'invalid_command',
  /** The robot's own program halted it: its connection broke. */
  'link_lost',
])
export type StopReason = z.infer<typeof StopReason>

/** All reasons that the platform writes into fields where participants may write a free text. */
export type PlatformReason = PauseReason | EndReason | StopReason
