import type { Selectable } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { RobotDetail, RobotView } from './robot.schema.ts'

const SECONDS_PER_HOUR = 3_600

const detailColumns = ['control_schema', 'telemetry_schema', 'operator_notes'] as const
/** The columns of a robot that lists omit. */
export type DetailColumn = (typeof detailColumns)[number]
export const isDetailColumn = (column: string): column is DetailColumn =>
  detailColumns.some((detailColumn) => detailColumn === column)

export type RobotRow = Omit<Selectable<Tables['robots']>, DetailColumn> & {
  last_online: Date | null
  last_heartbeat: Date | null
}
/** A robot with the columns that lists omit. */
export type RobotDetailRow = RobotRow & {
  control_schema: Record<string, unknown> | null
  telemetry_schema: Record<string, unknown> | null
  operator_notes: string | null
  battery: number | null
  battery_at: Date | null
  low_battery_threshold: number
}

/** Builds robot views. `gatewayUrl` returns the public gateway origin of control URLs. */
export function createRobotViews(gatewayUrl: () => string) {
  const robot = (row: RobotRow): RobotView => ({
    id: row.id,
    name: row.name,
    robot_type: row.robot_type,
    status: row.status,
    control_url: `${gatewayUrl()}/robots/${row.id}/control`,
    stream_url: row.stream_url,
    hardware_id: row.hardware_id,
    last_online: iso(row.last_online),
    last_heartbeat: iso(row.last_heartbeat),
    total_hours: Math.round((row.session_seconds / SECONDS_PER_HOUR) * 1_000) / 1_000,
    tags: row.tags,
    notes: row.notes,
    created_at: iso(row.created_at),
  })
  const detail = (row: RobotDetailRow): RobotDetail => ({
    ...robot(row),
    operator_notes: row.operator_notes,
    require_certification: row.require_certification,
    latency_limit_ms: row.latency_limit_ms,
    latency_budget_ms: row.latency_budget_ms,
    video_limit_ms: row.video_limit_ms,
    control_schema: row.control_schema,
    telemetry_schema: row.telemetry_schema,
    strict_control: row.strict_control,
    stop_clear: row.stop_clear,
    recording: row.recording,
    recording_days: row.recording_days,
    on_hold: row.on_hold,
    battery: row.battery,
    battery_at: iso(row.battery_at),
    low_battery_threshold: row.low_battery_threshold,
    log_event_level: row.log_event_level,
    ...(row.group_id !== null && { group_id: row.group_id }),
    ...(row.operators !== 'both' && { operators: row.operators }),
    ...(row.control_loss !== 'previous' && { control_loss: row.control_loss }),
  })
  return { robot, detail }
}
export type RobotViews = ReturnType<typeof createRobotViews>
