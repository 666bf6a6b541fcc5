import type { DriveLatency, DriveState, SpeedLimits } from '@wheelhouse/protocol'
import { FULL_SPEED, reasonText, speedLimitText } from '@wheelhouse/protocol'
import type { DriveCommand } from '@wheelhouse/sdk'
import { poseText } from '../watch/telemetry-text.ts'

/** Content of the drive screen. */
export interface DriveView {
  readonly connection: string
  readonly state: DriveState | null
  readonly latency: DriveLatency | null
  readonly limits: SpeedLimits
  readonly command: DriveCommand
  readonly telemetry: unknown
  /** Arrival time of the telemetry, by a monotonic clock. */
  readonly telemetryAtMs: number
  readonly sent: number
  readonly obeyed: number
  readonly dropped: number
  readonly lastDrop: string
  readonly note: string
}

export const emptyDriveView: DriveView = {
  connection: 'connecting',
  state: null,
  latency: null,
  limits: FULL_SPEED,
  telemetry: null,
  telemetryAtMs: 0,
  command: { linearMps: 0, angularRadps: 0 },
  sent: 0,
  obeyed: 0,
  dropped: 0,
  lastDrop: '',
  note: '',
}

/** Age from which the screen marks a sample as old. */
const STALE_MS = 2_000

/** Returns the lines of the screen, not escaped. They contain the session's id, for commands in another terminal. */
export function screen(view: DriveView, sessionId: string, nowMs: number): string[] {
  const { state, latency, command } = view
  const ms = (value: number | null | undefined) => (value == null ? '–' : `${value.toFixed(1)} ms`)
  return [
    `${view.connection}, session ${state?.status ?? '–'}, robot ${state?.robot_connected ? 'connected' : 'offline'}`,
    `session    ${sessionId}`,
    `stop       ${stopText(state)}`,
    `you        ${command.linearMps.toFixed(2)} m/s, ${command.angularRadps.toFixed(2)} rad/s`,
    `robot      ${robotText(view, nowMs)}`,
    `latency    you ${ms(latency?.operator_ms)}, robot ${ms(latency?.robot_ms)} (round trips)`,
    `speed      ${speedLimitText(view.limits) ?? 'not limited'}`,
    `commands   ${view.sent} sent, ${view.obeyed} obeyed, ${view.dropped} dropped${view.lastDrop && ` (${view.lastDrop})`}`,
    view.note,
    'arrows or WASD drive (hold or press repeatedly) · space halts · x STOP · c clear, or ask to clear · r resume · q quit',
  ]
}

function robotText({ telemetry, telemetryAtMs }: DriveView, nowMs: number): string {
  const pose =
    typeof telemetry === 'object' && telemetry !== null && 'pose' in telemetry ? telemetry.pose : null
  const ageMs = nowMs - telemetryAtMs
  const age = ageMs > STALE_MS ? `  OLD, ${(ageMs / 1_000).toFixed(1)} s ago` : ''
  return (poseText(pose) ?? '–') + (telemetry === null ? '' : age)
}

function stopText(state: DriveState | null): string {
  if (!state?.stop) return 'none'
  const { reason, latched, recorded, clearable_by: by } = state.stop
  if (!latched) return `${reason} (until you drive)`
  const owners = by === 'owner' ? ' (only the owner or an admin can clear it: c asks them)' : ''
  return `LATCHED: ${reasonText(reason)}${recorded ? '' : ' (not recorded yet)'}${owners}`
}
