import type { DriveLatency, DriveState } from '@wheelhouse/protocol'
import { reasonText } from '@wheelhouse/protocol'
import { poseText } from '../watch/telemetry-text.ts'
import type { DriveCommand } from './drive-keys.ts'

/** What the terminal shows. */
export interface DriveView {
  readonly connection: string
  readonly state: DriveState | null
  readonly latency: DriveLatency | null
  readonly command: DriveCommand
  readonly telemetry: unknown
  /** By a monotonic clock. */
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
  telemetry: null,
  telemetryAtMs: 0,
  command: { linear_mps: 0, angular_radps: 0 },
  sent: 0,
  obeyed: 0,
  dropped: 0,
  lastDrop: '',
  note: '',
}

/** A sample older than this is no picture of now. */
const STALE_MS = 2_000

/** The lines of the screen; not escaped. The id of the session is among them, for commands in another terminal. */
export function screen(view: DriveView, sessionId: string, nowMs: number): string[] {
  const { state, latency, command } = view
  const ms = (value: number | null | undefined) => (value == null ? '–' : `${value.toFixed(1)} ms`)
  return [
    `${view.connection}, session ${state?.status ?? '–'}, robot ${state?.robot_connected ? 'connected' : 'away'}`,
    `session    ${sessionId}`,
    `stop       ${stopText(state)}`,
    `you        ${command.linear_mps.toFixed(2)} m/s, ${command.angular_radps.toFixed(2)} rad/s`,
    `robot      ${robotText(view, nowMs)}`,
    `latency    you ${ms(latency?.operator_ms)}, robot ${ms(latency?.robot_ms)} (round trips)`,
    `commands   ${view.sent} sent, ${view.obeyed} obeyed, ${view.dropped} dropped${view.lastDrop && ` (${view.lastDrop})`}`,
    view.note,
    'arrows or WASD drive (held, or pressed again and again) · space stands · x STOP · c clear, or ask to clear · r resume · q quit',
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
  const owners = by === 'owner' ? ' (only the owner or an admin clears it: c asks them)' : ''
  return `LATCHED: ${reasonText(reason)}${recorded ? '' : ' (not recorded yet)'}${owners}`
}
