import { Button, Group, Modal, NativeSelect, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { RecordingMode } from '@wheelhouse/protocol'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { DialogButtons, Form, FormFooter, fieldErrors } from '../base/form.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { Sections } from '../base/sections.tsx'
import { Problem } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { recordedLabel } from '../recording/recording-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import {
  CertifiedField,
  ControlSchemaFields,
  LimitField,
  OperatorNotesField,
  parseSchema,
  RobotFields,
  type RobotValues,
  SchemaField,
  StopClearField,
  schemaProblem,
  schemaText,
} from './robot-fields.tsx'
import { type Robot, type RobotDetail, robotKey } from './use-robots.ts'

type RecordingSettings = Pick<Schemas['RobotDetail'], 'recording' | 'recording_days'>

/** The settings as a form has them. */
interface RecordingValues {
  readonly recording: RecordingMode
  /** Empty keeps recordings. */
  readonly recording_days: number | string
}

const recordingFields = ['recording', 'recording_days'] as const

/** Returns the settings of a robot as form values. Null days keep recordings. */
const recordingValues = ({ recording, recording_days }: RecordingSettings): RecordingValues => ({
  recording,
  recording_days: recording_days ?? '',
})

/** Returns form values as the API takes them. */
const recordingSettings = ({ recording, recording_days }: RecordingValues): RecordingSettings => ({
  recording,
  recording_days: recording_days === '' ? null : Number(recording_days),
})

interface Props {
  readonly values: RecordingValues
  readonly errors: { readonly [F in keyof RecordingValues]?: string }
  readonly onChange: (change: Partial<RecordingValues>) => void
}

/** Renders the choice of what is recorded, and for how long it is kept. */
const RecordingFields = ({ values, errors, onChange }: Props) => (
  <>
    <Radio.Group
      label={t('recording.fields.title')}
      description={t('recording.fields.note')}
      value={values.recording}
      error={errors.recording}
      onChange={(value) => onChange({ recording: RecordingMode.parse(value) })}
    >
      <Stack gap="xs" mt="xs">
        <Radio value="off" label={recordedLabel('off')} />
        <Radio value="control" label={recordedLabel('control')} />
        <Radio value="video" label={recordedLabel('video')} />
      </Stack>
    </Radio.Group>
    <NumberInput
      label={t('recording.fields.days')}
      description={t('recording.fields.daysNote')}
      placeholder={t('recording.fields.keep')}
      min={1}
      max={3_650}
      allowDecimal={false}
      value={values.recording_days}
      error={errors.recording_days}
      disabled={values.recording === 'off'}
      onChange={(recording_days) => onChange({ recording_days })}
    />
  </>
)

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
  /** Returns value, error and change of a field. */
  const field = <F extends Exclude<keyof Values, 'recorded' | 'strict_control'>>(name: F) => ({
    value: values[name],
    error: errors?.[name],
    onChange: (value: Values[F]) => change({ [name]: value }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const schemas = [values.control_schema, values.telemetry_schema]
    if (schemas.every((text) => schemaProblem(text) === undefined)) save.mutate(values)
  }
  return (
    <form onSubmit={submit} ref={form}>
      <Sections
        isPart
        items={[
          {
            id: 'general',
            title: t('robots.settings.general'),
            content: (
              <>
                <RobotFields values={values} errors={errors ?? {}} onChange={change} />
                <OperatorNotesField {...field('operator_notes')} />
              </>
            ),
          },
          {
            id: 'access',
            title: t('robots.settings.access'),
            content: (
              <>
                <CertifiedField {...field('require_certification')} />
                <StopClearField {...field('stop_clear')} />
              </>
            ),
          },
          {
            id: 'limits',
            title: t('robots.settings.limits'),
            content: limits.map(({ name, ...texts }) => (
              <LimitField key={name} {...texts} {...field(name)} />
            )),
          },
          {
            id: 'recording',
            title: t('robots.settings.recording'),
            content: (
              <>
                <RecordingFields
                  values={values.recorded}
                  errors={errors ?? {}}
                  onChange={(part) => change({ recorded: { ...values.recorded, ...part } })}
                />
                <LowBatteryField {...field('low_battery_threshold')} />
                <LogEventField {...field('log_event_level')} />
              </>
            ),
          },
          {
            id: 'advanced',
            title: t('robots.settings.advanced'),
            content: (
              // Rejected schemas must not stay folded.
              <details open={errors?.control_schema || errors?.telemetry_schema ? true : undefined}>
                <summary>{t('robots.settings.schemas')}</summary>
                <Stack pt="sm">
                  <ControlSchemaFields
                    schema={values.control_schema}
                    isStrict={values.strict_control}
                    error={errors?.control_schema}
                    onChange={change}
                  />
                  <SchemaField
                    label={t('robots.fields.telemetrySchema')}
                    description={t('robots.fields.telemetrySchemaNote')}
                    {...field('telemetry_schema')}
                  />
                </Stack>
              </details>
            ),
          },
        ]}
      />
      <Stack mt="lg">
        <FormFooter change={save} explained={errors !== undefined} />
      </Stack>
    </form>
  )
}

/** The limits under which a robot moves. */
const limits = [
  {
    name: 'latency_limit_ms',
    label: t('robots.fields.latencyLimit'),
    description: t('robots.fields.latencyLimitNote'),
    min: 50,
    max: 10_000,
  },
  {
    name: 'latency_budget_ms',
    label: t('robots.fields.latencyBudget'),
    description: t('robots.fields.latencyBudgetNote'),
    min: 50,
    max: 10_000,
  },
  {
    name: 'video_limit_ms',
    label: t('robots.fields.pictureAge'),
    description: t('robots.fields.pictureAgeNote'),
    min: 100,
    max: 60_000,
  },
] as const

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

type Level = RobotDetail['log_event_level']

const levels: { value: Level; label: string }[] = [
  { value: 'off', label: t('robots.fields.noLogEvents') },
  { value: 'warn', label: t('robots.fields.warningEvents') },
  { value: 'error', label: t('robots.fields.errorEvents') },
]

/** Renders the field for the charge below which owner and operator are notified. */
const LowBatteryField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label={t('robots.fields.lowBattery')}
    description={t('robots.fields.lowBatteryNote')}
    suffix=" %"
    min={0}
    max={100}
    allowDecimal={false}
    {...props}
  />
)

/** Renders the field for the level of log lines that become events. */
const LogEventField = (props: {
  value: Level
  error: string | undefined
  onChange: (value: Level) => void
}) => (
  <NativeSelect
    label={t('robots.fields.logEvents')}
    description={t('robots.fields.logEventsNote')}
    data={levels}
    value={props.value}
    error={props.error}
    onChange={({ currentTarget: { value } }) => props.onChange(value as Level)}
  />
)

/** Removes a robot after the owner has typed its name. */
export function DeleteRobot({ robot }: { robot: Robot }) {
  const [opened, { open, close }] = useDisclosure(false)
  const [typed, setTyped] = useState('')
  const remove = useRemove(robot.id)
  const submit = () => {
    if (typed.trim() === robot.name) remove.mutate()
  }
  const forget = () => {
    setTyped('')
    remove.reset()
  }
  const inSession = remove.error instanceof ApiError && remove.error.status === 409
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        {t('robots.remove.note')}
      </Text>
      <Button color="red.9" onClick={open}>
        {t('robots.remove.open')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('robots.remove.question', { robot: robot.name })}
        onExitTransitionEnd={forget}
      >
        <Form onSubmit={submit}>
          <Text>{t('robots.remove.consequence')}</Text>
          <TextInput
            label={t('robots.remove.confirmation', { robot: robot.name })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          <Problem error={remove.error} />
          {inSession && (
            <Text size="sm">
              {textParts('robots.remove.inSession', { session: <OpenSessions robot={robot} /> })}
            </Text>
          )}
          <DialogButtons
            onCancel={close}
            color="red.9"
            disabled={typed.trim() !== robot.name}
            loading={remove.isPending}
          >
            {t('robots.remove.confirm')}
          </DialogButtons>
        </Form>
      </Modal>
    </Group>
  )
}

const OpenSessions = ({ robot }: { robot: Robot }) => (
  <LinkAnchor to="/sessions" search={{ robot: robot.id }} underline="always">
    {t('robots.remove.session')}
  </LinkAnchor>
)

function useRemove(id: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: () => answerOf(rest.DELETE('/api/client/robots/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      await navigate({ to: '/robots' })
      queries.removeQueries({ queryKey: robotKey(id) })
      await queries.invalidateQueries({ queryKey: keys.robots })
    },
  })
}
