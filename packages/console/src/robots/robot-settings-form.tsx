import {
  Button,
  FileButton,
  Group,
  JsonInput,
  type JsonInputProps,
  Modal,
  NativeSelect,
  NumberInput,
  Radio,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { RecordingMode, RobotOperators } from '@wheelhouse/protocol'
import { ApiError } from '@wheelhouse/sdk'
import { type ReactNode, useRef, useState } from 'react'
import { DialogButtons, type FieldOf, Form, FormFooter, useFields, useFocusOnError } from '../base/form.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { messageOf } from '../base/message-of.ts'
import { Sections } from '../base/sections.tsx'
import { Note, Problem } from '../base/states.tsx'
import { useGroups } from '../organization/organization.ts'
import { useOrganizations } from '../platform/organization.ts'
import { keys } from '../platform/queries.ts'
import { useWrite } from '../platform/rest.ts'
import { recordedLabel } from '../recording/recording-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { type Robot, type RobotDetail, robotKey } from './use-robots.ts'

/** The form values of a robot that its registration has too. */
type RobotValues = Pick<Values, 'name' | 'stream_url' | 'tags' | 'notes' | 'require_certification'>

/** Renders the fields shared by the registration and settings forms. Its children are fields below the name. */
export const RobotFields = (props: { field: FieldOf<RobotValues>; children?: ReactNode }) => (
  <>
    <TextInput label={t('robots.fields.name')} required {...props.field('name')} />
    {props.children}
    <TextInput
      label={t('robots.fields.video')}
      description={t('robots.fields.videoNote')}
      placeholder={t('robots.fields.videoExample')}
      inputMode="url"
      {...props.field('stream_url')}
    />
    <TagsInput
      label={t('robots.fields.tags')}
      description={t('robots.fields.tagsNote')}
      maxTags={20}
      {...props.field('tags')}
    />
    <Textarea
      label={t('robots.fields.notes')}
      description={t('robots.fields.notesNote')}
      minRows={2}
      {...props.field('notes')}
    />
  </>
)

export const CertifiedField = ({ field }: { field: FieldOf<RobotValues> }) => {
  const { value, error, onChange } = field('require_certification')
  return (
    <Switch
      label={t('robots.fields.certifiedOnly')}
      description={t('robots.fields.certifiedOnlyNote')}
      checked={value}
      error={error}
      onChange={({ currentTarget: { checked } }) => onChange(checked)}
    />
  )
}

/** Renders the field for a declared schema as JSON, empty for none, and says what is wrong with its text. */
export const SchemaField = ({ error, ...props }: JsonInputProps & { value: string }) => (
  <JsonInput {...props} error={error ?? schemaProblem(props.value)} rows={6} />
)

/** Returns what is wrong with the text of a schema. The platform checks its content. */
export function schemaProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? undefined : t('robots.fields.notAnObject')
  } catch {
    return t('robots.fields.notJson')
  }
}

export const schemaText = (schema: Record<string, unknown> | null): string =>
  schema === null ? '' : JSON.stringify(schema, null, 2)

export const parseSchema = (text: string): Record<string, unknown> | null =>
  text.trim() === '' ? null : JSON.parse(text)

/** Returns the settings of a robot as a form has them: limits may be empty, schemas are JSON, a charge is in percent. */
const valuesOf = (robot: RobotDetail) => ({
  name: robot.name,
  stream_url: robot.stream_url,
  tags: robot.tags,
  notes: robot.notes ?? '',
  operator_notes: robot.operator_notes ?? '',
  require_certification: robot.require_certification,
  latency_limit_ms: robot.latency_limit_ms as number | string,
  latency_budget_ms: robot.latency_budget_ms ?? '',
  video_limit_ms: robot.video_limit_ms ?? '',
  control_schema: schemaText(robot.control_schema),
  telemetry_schema: schemaText(robot.telemetry_schema),
  strict_control: robot.strict_control,
  stop_clear: robot.stop_clear,
  control_loss: robot.control_loss ?? 'previous',
  low_battery_threshold: Math.round(robot.low_battery_threshold * 100) as number | string,
  log_event_level: robot.log_event_level,
  recording: robot.recording,
  // Empty keeps recordings.
  recording_days: robot.recording_days ?? '',
  // Empty: without a group.
  group_id: robot.group_id ?? '',
  operators: robot.operators ?? 'both',
})
type Values = ReturnType<typeof valuesOf>

const textOrNull = (text: string) => (text.trim() === '' ? null : text)
const numberOrNull = (value: number | string) => (value === '' ? null : Number(value))

const settingsOf = ({ group_id, operators, ...values }: Values, isTeam: boolean) => ({
  ...values,
  ...(isTeam && { group_id: group_id || null, operators }),
  notes: textOrNull(values.notes),
  operator_notes: textOrNull(values.operator_notes),
  latency_limit_ms: Number(values.latency_limit_ms),
  latency_budget_ms: numberOrNull(values.latency_budget_ms),
  video_limit_ms: numberOrNull(values.video_limit_ms),
  low_battery_threshold: Number(values.low_battery_threshold) / 100,
  recording_days: numberOrNull(values.recording_days),
  control_schema: parseSchema(values.control_schema),
  telemetry_schema: parseSchema(values.telemetry_schema),
})

/** Edits the settings of a robot. A refetch does not overwrite the typed values. */
export function RobotSettingsForm({ robot }: { robot: RobotDetail }) {
  const { isTeam } = useOrganizations()
  const save = useWrite(
    (rest, values: Values) =>
      rest.PATCH('/api/client/robots/{id}', {
        params: { path: { id: robot.id } },
        body: settingsOf(values, isTeam),
      }),
    { stores: robotKey(robot.id), refresh: [keys.robots] },
  )
  const hideSaved = () => save.isSuccess && save.reset()
  const hideNotes = () => {
    hideSaved()
    urdf.reset()
  }
  const { values, setValues, field, errors, change } = useFields(() => valuesOf(robot), save.error, hideNotes)
  const urdf = useMutation({
    mutationFn: async (file: File) => (await import('./urdf-file.ts')).readUrdfFile(file),
    networkMode: 'always', // the file does not leave the browser
    onSuccess: ({ control, telemetry }) => {
      hideSaved()
      setValues((old) => ({
        ...old,
        control_schema: schemaText(control),
        ...(old.telemetry_schema.trim() === '' && { telemetry_schema: schemaText(telemetry) }),
      }))
    },
  })
  const form = useFocusOnError(save.error ?? urdf.error)
  const submit = () => {
    const schemas = [values.control_schema, values.telemetry_schema]
    if (schemas.some((text) => schemaProblem(text) !== undefined)) return
    urdf.reset()
    save.mutate(values)
  }
  const general = (
    <>
      <RobotFields field={field} />
      <Textarea
        label={t('robots.fields.operatorNotes')}
        description={t('robots.fields.operatorNotesNote')}
        maxLength={2_000}
        minRows={2}
        {...field('operator_notes')}
      />
    </>
  )
  const access = (
    <>
      {isTeam && <TeamFields field={field} />}
      <CertifiedField field={field} />
      <Radio.Group
        label={t('robots.fields.clearStops')}
        description={t('robots.fields.clearStopsNote')}
        {...field('stop_clear')}
        onChange={(value) => change({ stop_clear: value === 'anyone' ? 'anyone' : 'owner' })}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="owner" label={t('robots.fields.clearedByOwner')} />
          <Radio value="anyone" label={t('robots.fields.clearedByAnyone')} />
        </Stack>
      </Radio.Group>
      <Radio.Group
        label={t('robots.fields.controlLoss')}
        description={t('robots.fields.controlLossNote')}
        {...field('control_loss')}
        onChange={(value) => change({ control_loss: value === 'nobody' ? 'nobody' : 'previous' })}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="previous" label={t('robots.fields.controlLossPrevious')} />
          <Radio value="nobody" label={t('robots.fields.controlLossNobody')} />
        </Stack>
      </Radio.Group>
    </>
  )
  const recording = (
    <>
      <Radio.Group
        label={t('recording.fields.title')}
        description={t('recording.fields.note')}
        {...field('recording')}
        onChange={(value) => change({ recording: RecordingMode.parse(value) })}
      >
        <Stack gap="xs" mt="xs">
          {RecordingMode.options.map((mode) => (
            <Radio key={mode} value={mode} label={recordedLabel(mode)} />
          ))}
        </Stack>
      </Radio.Group>
      <NumberInput
        label={t('recording.fields.days')}
        description={t('recording.fields.daysNote')}
        placeholder={t('recording.fields.keep')}
        min={1}
        max={3_650}
        allowDecimal={false}
        disabled={values.recording === 'off'}
        {...field('recording_days')}
      />
      <NumberInput
        label={t('robots.fields.lowBattery')}
        description={t('robots.fields.lowBatteryNote')}
        suffix=" %"
        min={0}
        max={100}
        allowDecimal={false}
        {...field('low_battery_threshold')}
      />
      <NativeSelect
        label={t('robots.fields.logEvents')}
        description={t('robots.fields.logEventsNote')}
        data={levels}
        {...field('log_event_level')}
        onChange={({ currentTarget: { value } }) =>
          change({ log_event_level: value as Values['log_event_level'] })
        }
      />
    </>
  )
  const advanced = (
    // Rejected schemas must not stay folded.
    <details open={errors?.control_schema || errors?.telemetry_schema ? true : undefined}>
      <summary>{t('robots.settings.schemas')}</summary>
      <Stack pt="sm">
        <UrdfButton
          onChoose={urdf.mutate}
          isReading={urdf.isPending}
          read={urdf.isSuccess ? urdf.variables : undefined}
        />
        <SchemaField
          label={t('robots.fields.controlSchema')}
          description={t('robots.fields.controlSchemaNote')}
          {...field('control_schema')}
          error={urdf.error ? messageOf(urdf.error) : errors?.control_schema}
        />
        <Switch
          label={t('robots.fields.strictControl')}
          description={t('robots.fields.strictControlNote')}
          checked={values.strict_control}
          onChange={({ currentTarget: { checked } }) => change({ strict_control: checked })}
        />
        <SchemaField
          label={t('robots.fields.telemetrySchema')}
          description={t('robots.fields.telemetrySchemaNote')}
          {...field('telemetry_schema')}
        />
      </Stack>
    </details>
  )
  return (
    <Form onSubmit={submit} ref={form}>
      <Sections
        isPart
        items={[
          { id: 'general', title: t('robots.settings.general'), content: general },
          { id: 'access', title: t('robots.settings.access'), content: access },
          {
            id: 'limits',
            title: t('robots.settings.limits'),
            content: limits.map(([name, label, description, min, max]) => (
              <NumberInput
                key={name}
                label={label}
                description={description}
                suffix=" ms"
                allowDecimal={false}
                min={min}
                max={max}
                {...field(name)}
              />
            )),
          },
          { id: 'recording', title: t('robots.settings.recording'), content: recording },
          { id: 'advanced', title: t('robots.settings.advanced'), content: advanced },
        ]}
      />
      <FormFooter change={save} explained={errors !== undefined} />
    </Form>
  )
}

const operatorChoices = [
  ['own', t('robots.fields.operatorsOwn')],
  ['marketplace', t('robots.fields.operatorsMarketplace')],
  ['both', t('robots.fields.operatorsBoth')],
] as const

/** Renders the settings that robots of teams have: the group, and who may drive. */
function TeamFields({ field }: { field: FieldOf<Pick<Values, 'group_id' | 'operators'>> }) {
  const groups = useGroups().data?.groups ?? []
  const group = field('group_id')
  const operators = field('operators')
  return (
    <>
      <NativeSelect
        label={t('robots.fields.group')}
        description={t('robots.fields.groupNote')}
        data={[
          { value: '', label: t('robots.fields.noGroup') },
          ...groups.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        {...group}
        onChange={({ currentTarget: { value } }) => group.onChange(value)}
      />
      <Radio.Group
        label={t('robots.fields.operators')}
        description={t('robots.fields.operatorsNote')}
        {...operators}
        onChange={(value) => operators.onChange(RobotOperators.parse(value))}
      >
        <Stack gap="xs" mt="xs">
          {operatorChoices.map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
    </>
  )
}

/** Offers to make the schemas of a URDF. `read` is the file of which the fields were filled. */
function UrdfButton(props: { onChoose: (file: File) => void; isReading: boolean; read: File | undefined }) {
  const reset = useRef<() => void>(null)
  const choose = (file: File | null) => {
    if (file) props.onChoose(file)
    reset.current?.() // so that the same file can be chosen again after it was corrected
  }
  return (
    <Group>
      <FileButton
        accept=".urdf,.xml"
        onChange={choose}
        resetRef={reset}
        inputProps={{ 'aria-label': t('robots.urdf.file') }}
      >
        {(button) => (
          <Button {...button} variant="default" loading={props.isReading}>
            {t('robots.urdf.choose')}
          </Button>
        )}
      </FileButton>
      <Note role="status">
        {props.read ? t('robots.urdf.filled', { file: props.read.name }) : t('robots.urdf.note')}
      </Note>
    </Group>
  )
}

/** The limits under which a robot moves. Empty means none where a robot may be without it. */
const limits = [
  ['latency_limit_ms', t('robots.fields.latencyLimit'), t('robots.fields.latencyLimitNote'), 50, 10_000],
  ['latency_budget_ms', t('robots.fields.latencyBudget'), t('robots.fields.latencyBudgetNote'), 50, 10_000],
  ['video_limit_ms', t('robots.fields.pictureAge'), t('robots.fields.pictureAgeNote'), 100, 60_000],
] as const

const levels = [
  { value: 'off', label: t('robots.fields.noLogEvents') },
  { value: 'warn', label: t('robots.fields.warningEvents') },
  { value: 'error', label: t('robots.fields.errorEvents') },
]

/** Removes a robot after the owner has typed its name. */
export function DeleteRobot({ robot }: { robot: Robot }) {
  const [opened, { open, close }] = useDisclosure(false)
  const [typed, setTyped] = useState('')
  const remove = useRemove(robot.id)
  const isConfirmed = typed.trim() === robot.name
  const forget = () => {
    setTyped('')
    remove.reset()
  }
  const inSession = remove.error instanceof ApiError && remove.error.status === 409
  const sessions = (
    <LinkAnchor to="/sessions" search={{ robot: robot.id }} underline="always">
      {t('robots.remove.session')}
    </LinkAnchor>
  )
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
        <Form onSubmit={() => isConfirmed && remove.mutate()}>
          <Text>{t('robots.remove.consequence')}</Text>
          <TextInput
            label={t('robots.remove.confirmation', { robot: robot.name })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          <Problem error={remove.error} />
          {inSession && <Text size="sm">{textParts('robots.remove.inSession', { session: sessions })}</Text>}
          <DialogButtons onCancel={close} color="red.9" disabled={!isConfirmed} loading={remove.isPending}>
            {t('robots.remove.confirm')}
          </DialogButtons>
        </Form>
      </Modal>
    </Group>
  )
}

function useRemove(id: string) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useWrite((rest) => rest.DELETE('/api/client/robots/{id}', { params: { path: { id } } }), {
    onSuccess: async () => {
      await navigate({ to: '/robots' })
      queries.removeQueries({ queryKey: robotKey(id) })
    },
    refresh: [keys.robots],
  })
}
