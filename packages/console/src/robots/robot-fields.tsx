import { NumberInput, Radio, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { SchemaField } from './schema-field.tsx'

/** The form values of a robot. */
export interface RobotValues {
  readonly name: string
  readonly stream_url: string
  readonly tags: string[]
  readonly notes: string
  readonly require_certification: boolean
}

interface Props<V extends RobotValues> {
  readonly values: V
  readonly errors: { readonly [F in keyof V]?: string }
  readonly onChange: (change: Partial<RobotValues>) => void
  /** Fields below the name. */
  readonly children?: ReactNode
}

/** Renders the fields shared by the registration and settings forms. */
export function RobotFields<V extends RobotValues>({ values, errors, onChange, children }: Props<V>) {
  return (
    <>
      <TextInput
        label="Name"
        value={values.name}
        error={errors.name}
        onChange={({ currentTarget: { value } }) => onChange({ name: value })}
        required
      />
      {children}
      <TextInput
        label="Video"
        description="Video URL (optional). WHEP, HLS or MJPEG."
        placeholder="https://…"
        value={values.stream_url}
        error={errors.stream_url}
        onChange={({ currentTarget: { value } }) => onChange({ stream_url: value })}
        inputMode="url"
      />
      <TagsInput
        label="Tags"
        description="Up to 20. Press Enter to add."
        value={values.tags}
        error={errors.tags}
        onChange={(tags) => onChange({ tags })}
        maxTags={20}
      />
      <Textarea
        label="Notes"
        description="Only you see them."
        value={values.notes}
        error={errors.notes}
        onChange={({ currentTarget: { value } }) => onChange({ notes: value })}
        autosize
        minRows={2}
      />
      <Switch
        label="Certified operators only"
        description="Only operators certified for this type can drive it."
        checked={values.require_certification}
        error={errors.require_certification}
        onChange={({ currentTarget: { checked } }) => onChange({ require_certification: checked })}
      />
    </>
  )
}

/** Renders the field for the notes that operators see before a session. */
export const OperatorNotesField = (props: {
  value: string
  error: string | undefined
  onChange: (operatorNotes: string) => void
}) => (
  <Textarea
    label="Notes for operators"
    description="Operators see them before they take the wheel. Up to 2,000 characters."
    maxLength={2_000}
    value={props.value}
    error={props.error}
    onChange={({ currentTarget: { value } }) => props.onChange(value)}
    autosize
    minRows={2}
  />
)

/** Renders the field for the latency above which the gateway drops commands. */
export const LatencyField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label="Latency limit"
    description="50 to 10,000 ms. Driving is blocked above this latency."
    suffix=" ms"
    min={50}
    max={10_000}
    allowDecimal={false}
    {...props}
  />
)

/** Renders the field for the latency above which the platform limits the speed. Empty means no limit. */
export const LatencyBudgetField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label="Latency budget"
    description="50 to 10,000 ms. Above this latency the speed is limited in proportion. Empty: no limit."
    suffix=" ms"
    min={50}
    max={10_000}
    allowDecimal={false}
    {...props}
  />
)

/** Renders the field for the age of the picture above which the gateway drops commands. Empty means no limit. */
export const VideoLimitField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label="Picture age limit"
    description="100 to 60,000 ms. Driving is blocked while the operator sees an older picture. Empty: no limit."
    suffix=" ms"
    min={100}
    max={60_000}
    allowDecimal={false}
    {...props}
  />
)

/** Renders the fields for the commands that the robot accepts. An empty text stands for those of its model. */
export const ControlSchemaFields = (props: {
  schema: string
  isStrict: boolean
  error: string | undefined
  onChange: (change: { control_schema?: string; strict_control?: boolean }) => void
}) => (
  <>
    <SchemaField
      label="Control schema"
      description="The commands that the robot accepts, as JSON Schema. Empty: those of its model."
      value={props.schema}
      error={props.error}
      onChange={(control_schema) => props.onChange({ control_schema })}
    />
    <Switch
      label="Strict control"
      description="The platform drops commands that the control schema does not allow, and all binary ones."
      checked={props.isStrict}
      onChange={({ currentTarget: { checked } }) => props.onChange({ strict_control: checked })}
    />
  </>
)

/** Renders the choice of who may clear a stop that the owner or an admin requested. */
export const StopClearField = (props: {
  value: 'owner' | 'anyone'
  error: string | undefined
  onChange: (value: 'owner' | 'anyone') => void
}) => (
  <Radio.Group
    label="Permission to clear your stops"
    description="Applies to remote stops by you or an admin. A remote stop complements the robot’s own emergency stop device and never replaces it."
    value={props.value}
    error={props.error}
    onChange={(value) => props.onChange(value === 'anyone' ? 'anyone' : 'owner')}
  >
    <Stack gap="xs" mt="xs">
      <Radio value="owner" label="You or an admin (the operator can ask)" />
      <Radio value="anyone" label="Also the operator" />
    </Stack>
  </Radio.Group>
)
