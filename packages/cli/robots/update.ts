import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { robotId } from '../ids.ts'
import { readSchema } from '../schema-file.ts'
import { showRobot } from './view.ts'

interface Options {
  readonly name?: string
  readonly streamUrl?: string
  readonly tag?: string[]
  readonly notes?: string
  readonly operatorNotes?: string
  readonly requireCertification?: boolean
  readonly latencyLimit?: number
  /** In milliseconds; 0 for no limit of the speed. */
  readonly latencyBudget?: number
  /** In milliseconds; 0 for no limit. */
  readonly videoLimit?: number
  /** A file, or an empty text. */
  readonly controlSchema?: string
  /** A file, or an empty text. */
  readonly telemetrySchema?: string
  readonly strictControl?: boolean
  readonly stopClear?: 'owner' | 'anyone'
  readonly recording?: Schemas['RobotDetail']['recording']
  readonly recordingDays?: number | 'none'
  readonly hold?: boolean
  readonly lowBattery?: number
  readonly logEvents?: Schemas['RobotDetail']['log_event_level']
}

/** Changes the given settings of a robot. */
export async function run(cli: Context, idOrName: string, options: Options): Promise<void> {
  const {
    name,
    streamUrl,
    tag,
    notes,
    operatorNotes,
    requireCertification,
    latencyLimit,
    latencyBudget,
    videoLimit,
    controlSchema,
    telemetrySchema,
    strictControl,
    lowBattery,
    logEvents,
    stopClear,
    recording,
    recordingDays,
    hold,
  } = options
  const body = {
    ...(name !== undefined && { name }),
    ...(streamUrl !== undefined && { stream_url: streamUrl }),
    ...(tag && { tags: tag }),
    ...(notes !== undefined && { notes: notes || null }),
    ...(operatorNotes !== undefined && { operator_notes: operatorNotes || null }),
    ...(requireCertification !== undefined && { require_certification: requireCertification }),
    ...(latencyLimit !== undefined && { latency_limit_ms: latencyLimit }),
    ...(latencyBudget !== undefined && { latency_budget_ms: latencyBudget || null }),
    ...(videoLimit !== undefined && { video_limit_ms: videoLimit || null }),
    ...(controlSchema !== undefined && {
      control_schema: await readSchema(controlSchema, 'control schema'),
    }),
    ...(telemetrySchema !== undefined && {
      telemetry_schema: await readSchema(telemetrySchema, 'telemetry schema'),
    }),
    ...(strictControl !== undefined && { strict_control: strictControl }),
    ...(stopClear !== undefined && { stop_clear: stopClear }),
    ...(recording !== undefined && { recording }),
    ...(recordingDays !== undefined && { recording_days: recordingDays === 'none' ? null : recordingDays }),
    ...(hold !== undefined && { on_hold: hold }),
    ...(lowBattery !== undefined && { low_battery_threshold: lowBattery / 100 }),
    ...(logEvents !== undefined && { log_event_level: logEvents }),
  }
  if (Object.keys(body).length === 0) {
    throw new Failure('usage', 'Set at least one option. See: wheelhouse robots update --help')
  }
  const id = await robotId(cli, idOrName)
  const robot = await answerOf(cli.rest.PATCH('/api/client/robots/{id}', { params: { path: { id } }, body }))
  cli.out.result(robot, () => showRobot(cli.out, robot))
}
