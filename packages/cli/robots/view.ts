import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'
import type { Column } from '../table.ts'
import { styled } from '../text.ts'
import { formatTime, statusPiece } from '../views.ts'

export const robotColumns: readonly Column<Schemas['Robot']>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'TYPE', value: ({ robot_type }) => robot_type },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'LAST HEARTBEAT', value: ({ last_heartbeat }) => formatTime(last_heartbeat) },
]

const recordingTexts = {
  off: 'off',
  control: 'control and telemetry',
  video: 'control, telemetry and cameras',
} as const

const percent = (share: number) => `${Math.round(share * 100)} %`

export function showRobot(out: Output, robot: Schemas['RobotDetail']): void {
  out.record([
    ['Id', robot.id],
    ['Name', robot.name],
    ['Type', robot.robot_type],
    ['Status', statusPiece(robot.status)],
    ['Hardware', robot.hardware_id],
    ['Tags', robot.tags.join(', ') || undefined],
    ['Notes', robot.notes ?? undefined],
    ['Notes for operators', robot.operator_notes ?? undefined],
    ['Video', robot.stream_url || undefined],
    ['Control', robot.control_url],
    ['Last heartbeat', formatTime(robot.last_heartbeat)],
    [
      'Battery',
      robot.battery === null ? undefined : `${percent(robot.battery)}, ${formatTime(robot.battery_at)}`,
    ],
    ['Hours', robot.total_hours.toFixed(1)],
    ['Certification', robot.require_certification ? 'required' : 'not required'],
    ['Latency limit', `${robot.latency_limit_ms} ms`],
    [
      'Latency budget',
      robot.latency_budget_ms === null ? 'none, the speed is not limited' : `${robot.latency_budget_ms} ms`,
    ],
    [
      'Picture age limit',
      robot.video_limit_ms === null ? 'none, the age is not checked' : `${robot.video_limit_ms} ms`,
    ],
    ['Control schema', robot.control_schema === null ? undefined : 'its own'],
    ['Telemetry schema', robot.telemetry_schema === null ? undefined : 'its own'],
    ['Strict control', robot.strict_control ? 'the gateway checks every command' : undefined],
    [
      'Your stops',
      robot.stop_clear === 'owner' ? 'you or an admin can clear them' : 'the operator can also clear them',
    ],
    ['Recording', recordingTexts[robot.recording]],
    [
      'Recordings kept',
      robot.recording_days === null ? 'until you delete them' : `${robot.recording_days} days`,
    ],
    ['On hold', robot.on_hold ? 'no new sessions; release it with robots update --no-hold' : undefined],
    [
      'Low battery',
      robot.low_battery_threshold === 0 ? 'never' : `below ${percent(robot.low_battery_threshold)}`,
    ],
    ['Log events', robot.log_event_level],
    ['Registered', formatTime(robot.created_at)],
  ])
}

/** Prints the token of a robot and a program that connects with it. */
export function showConnection(out: Output, robot: { control_url: string; robot_token: string }): void {
  const { control_url, robot_token } = robot
  out.line()
  out.line(styled('bold', 'Robot token, shown only once:'))
  out.line(robot_token)
  out.line()
  out.line(styled('bold', 'Connect the robot'), ' with @wheelhouse/sdk:')
  for (const line of [
    "import { RobotLink } from '@wheelhouse/sdk'",
    'const link = new RobotLink({',
    `  url: '${control_url}',`,
    '  token: robotToken, // the token above',
    '  onControl: ({ seq, data }) => { drive(data); link.ack(seq) },',
    '  onStop: ({ reason }) => { brake(); link.stopped(reason) },',
    '})',
    'await link.connect()',
  ]) {
    out.line('  ', line)
  }
}
