import { Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import {
  RecordingFields,
  type RecordingValues,
  recordingFields,
  recordingSettings,
  recordingValues,
} from '../recording/recording-fields.tsx'
import { t } from '../texts/texts.ts'
import { FormFooter, fieldErrors } from '../ui/form.tsx'
import { LogEventField, LowBatteryField } from './report-fields.tsx'
import {
  ControlSchemaFields,
  LatencyBudgetField,
  LatencyField,
  OperatorNotesField,
  RobotFields,
  type RobotValues,
  StopClearField,
  VideoLimitField,
} from './robot-fields.tsx'
import { parseSchema, SchemaField, schemaProblem, schemaText } from './schema-field.tsx'
import { type RobotDetail, robotKey } from './use-robots.ts'

interface Values extends RobotValues {
  readonly operator_notes: string
  readonly latency_limit_ms: number | string
  /** Empty for no limit. */
  readonly latency_budget_ms: number | string
  /** Empty for no limit. */
  readonly video_limit_ms: number | string
  /** As JSON; empty for none. */
  readonly control_schema: string
  readonly strict_control: boolean
  /** As JSON; empty for none. */
  readonly telemetry_schema: string
  readonly stop_clear: RobotDetail['stop_clear']
  /** In percent. */
  readonly low_battery_threshold: number | string
  readonly log_event_level: RobotDetail['log_event_level']
  readonly recorded: RecordingValues
}
const fields = [
  'name',
  'stream_url',
  'tags',
  'notes',
  'operator_notes',
  'require_certification',
  'latency_limit_ms',
  'latency_budget_ms',
  'video_limit_ms',
  'control_schema',
  'telemetry_schema',
  'low_battery_threshold',
  'log_event_level',
  'stop_clear',
  ...recordingFields,
] as const

/** Edits the settings of a robot. A refetch does not overwrite the typed values. */
export function RobotSettingsForm({ robot }: { robot: RobotDetail }) {
  const [values, setValues] = useState<Values>({
    name: robot.name,
    stream_url: robot.stream_url,
    tags: robot.tags,
    notes: robot.notes ?? '',
    operator_notes: robot.operator_notes ?? '',
    require_certification: robot.require_certification,
    latency_limit_ms: robot.latency_limit_ms,
    latency_budget_ms: robot.latency_budget_ms ?? '',
    video_limit_ms: robot.video_limit_ms ?? '',
    control_schema: schemaText(robot.control_schema),
    telemetry_schema: schemaText(robot.telemetry_schema),
    strict_control: robot.strict_control,
    stop_clear: robot.stop_clear,
    low_battery_threshold: Math.round(robot.low_battery_threshold * 100),
    log_event_level: robot.log_event_level,
    recorded: recordingValues(robot),
  })
  const form = useRef<HTMLFormElement>(null)
  const save = useSave(robot.id)
  const errors = fieldErrors(save.error, fields)
  useEffect(() => {
    if (save.error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [save.error])
  const change = (part: Partial<Values>) => {
    if (save.isSuccess) save.reset() // hides "Saved"
    setValues((old) => ({ ...old, ...part }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const schemas = [values.control_schema, values.telemetry_schema]
    if (schemas.every((text) => schemaProblem(text) === undefined)) save.mutate(values)
  }
  return (
    <form onSubmit={submit} ref={form}>
      <Stack maw={640}>
        <RobotFields values={values} errors={errors ?? {}} onChange={change} />
        <OperatorNotesField
          value={values.operator_notes}
          error={errors?.operator_notes}
          onChange={(operator_notes) => change({ operator_notes })}
        />
        <LatencyField
          value={values.latency_limit_ms}
          error={errors?.latency_limit_ms}
          onChange={(latency_limit_ms) => change({ latency_limit_ms })}
        />
        <LatencyBudgetField
          value={values.latency_budget_ms}
          error={errors?.latency_budget_ms}
          onChange={(latency_budget_ms) => change({ latency_budget_ms })}
        />
        <VideoLimitField
          value={values.video_limit_ms}
          error={errors?.video_limit_ms}
          onChange={(video_limit_ms) => change({ video_limit_ms })}
        />
        <ControlSchemaFields
          schema={values.control_schema}
          isStrict={values.strict_control}
          error={errors?.control_schema}
          onChange={change}
        />
        <SchemaField
          label={t('robots.fields.telemetrySchema')}
          description={t('robots.fields.telemetrySchemaNote')}
          value={values.telemetry_schema}
          error={errors?.telemetry_schema}
          onChange={(telemetry_schema) => change({ telemetry_schema })}
        />
        <RecordingFields
          values={values.recorded}
          errors={errors ?? {}}
          onChange={(part) => change({ recorded: { ...values.recorded, ...part } })}
        />
        <StopClearField
          value={values.stop_clear}
          error={errors?.stop_clear}
          onChange={(stop_clear) => change({ stop_clear })}
        />
        <LowBatteryField
          value={values.low_battery_threshold}
          error={errors?.low_battery_threshold}
          onChange={(low_battery_threshold) => change({ low_battery_threshold })}
        />
        <LogEventField
          value={values.log_event_level}
          error={errors?.log_event_level}
          onChange={(log_event_level) => change({ log_event_level })}
        />
        <FormFooter change={save} explained={errors !== undefined} />
      </Stack>
    </form>
  )
}

function useSave(id: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ recorded, ...values }: Values) => {
      const notes = values.notes.trim() === '' ? null : values.notes
      const operator_notes = values.operator_notes.trim() === '' ? null : values.operator_notes
      const latency_limit_ms = Number(values.latency_limit_ms)
      const latency_budget_ms = values.latency_budget_ms === '' ? null : Number(values.latency_budget_ms)
      const video_limit_ms = values.video_limit_ms === '' ? null : Number(values.video_limit_ms)
      const low_battery_threshold = Number(values.low_battery_threshold) / 100
      return answerOf(
        rest.PATCH('/api/client/robots/{id}', {
          params: { path: { id } },
          body: {
            ...values,
            ...recordingSettings(recorded),
            notes,
            operator_notes,
            latency_limit_ms,
            latency_budget_ms,
            video_limit_ms,
            low_battery_threshold,
            control_schema: parseSchema(values.control_schema),
            telemetry_schema: parseSchema(values.telemetry_schema),
          },
        }),
      )
    },
    onSuccess: (robot) => {
      queries.setQueryData(robotKey(id), robot)
      return queries.invalidateQueries({ queryKey: keys.robots })
    },
  })
}
