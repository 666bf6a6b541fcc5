import { limitSpeed } from '@wheelhouse/protocol'
import { type DriveCommand, PosePredictor } from '@wheelhouse/sdk'
import type { Predict } from '../telemetry/telemetry-panel.ts'
import type { ControlData } from './control-plan.ts'

/** After this time without a command that drives, the robot has halted: the deadman, and the longest delay. */
const DRIVING_MS = 1_000

interface PredictionOptions {
  /** Returns the speeds of a command. */
  readonly driveCommandOf: (data: ControlData) => DriveCommand
  /** Returns the allowed share of full speed. */
  readonly speedScale: () => number
  /** Returns the round trip of commands; undefined while it is unknown. */
  readonly delayMs: () => number | undefined
}

/** Predicts the pose of the robot from the commands of this page. */
interface Prediction {
  /** Notes a command that was sent. */
  sent(data: ControlData): void
  readonly predict: Predict
}

export function createPrediction({ driveCommandOf, speedScale, delayMs }: PredictionOptions): Prediction {
  const predictor = new PosePredictor()
  let droveMs = Number.NEGATIVE_INFINITY
  return {
    sent(data) {
      const nowMs = performance.now()
      const limited = limitSpeed({ data }, speedScale()).data as ControlData
      const command = driveCommandOf(limited)
      predictor.command(command, nowMs)
      if (command.linearMps !== 0 || command.angularRadps !== 0) droveMs = nowMs
    },
    predict(reported, nowMs) {
      const delay = delayMs()
      if (delay === undefined || nowMs - droveMs > DRIVING_MS + delay) return null
      return predictor.predict({ reported, delayMs: delay, nowMs })
    },
  }
}
