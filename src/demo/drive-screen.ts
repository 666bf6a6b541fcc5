import type { DriveLatency, DriveState } from '@wheelhouse/protocol'
import { z } from 'zod'
import type { DriveCommand } from './drive-keys.ts'

/** What the terminal shows. */
export interface DriveView {
  readonly connection: string
  readonly state: DriveState | null
  readonly latency: DriveLatency | null
  readonly command: DriveCommand
  readonly telemetry: unknown
  readonly sent: number
  readonly obeyed: number
  readonly dropped: number
  readonly lastDrop: string
  readonly note: string
}

const Sample = z.looseObject({
  pose: z.looseObject({ x_m: z.number(), y_m: z.number(), heading_rad: z.number() }),
})
const DEGREES = 180 / Math.PI

/** The lines of the screen, without anything a robot or a person sent that could steer a terminal. */
export function screen(view: DriveView): string[] {
  const { state, latency, command } = view
  const ms = (value: number | null | undefined) => (value == null ? '–' : `${value.toFixed(1)} ms`)
  const pose = Sample.safeParse(view.telemetry).data?.pose
  const lines = [
    `${view.connection}, session ${state?.status ?? '–'}, robot ${state?.robot_connected ? 'connected' : 'away'}`,
    `stop       ${stopText(state)}`,
    `you        ${command.linear_mps.toFixed(2)} m/s, ${command.angular_radps.toFixed(2)} rad/s`,
    `robot      ${pose ? poseText(pose) : '–'}`,
    `latency    you ${ms(latency?.operator_ms)}, robot ${ms(latency?.robot_ms)} (round trips)`,
    `commands   ${view.sent} sent, ${view.obeyed} obeyed, ${view.dropped} dropped${view.lastDrop && ` (${view.lastDrop})`}`,
    view.note,
    'arrows or WASD drive · space stands · x STOP · c clear · r resume · q quit',
  ]
  return lines.map((line) => line.replaceAll(/\p{Cc}/gu, '·'))
}

function poseText({ x_m: x, y_m: y, heading_rad: heading }: z.infer<typeof Sample>['pose']): string {
  return `x ${x.toFixed(2)} m, y ${y.toFixed(2)} m, ${(heading * DEGREES).toFixed(0)}°`
}

function stopText(state: DriveState | null): string {
  if (!state?.stop) return 'none'
  const { reason, latched, recorded } = state.stop
  if (!latched) return `${reason} (until you drive)`
  return `LATCHED: ${reason}${recorded ? '' : ' (not recorded yet)'}`
}
