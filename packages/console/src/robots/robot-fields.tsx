import { NumberInput, Radio, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'

/** What an owner says about a robot, as it stands in a form. */
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

/** The fields that registering a robot and changing one have in common. */
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
        description="Address of its stream (WHEP, HLS, MJPEG); empty when there is none"
        placeholder="https://…"
        value={values.stream_url}
        error={errors.stream_url}
        onChange={({ currentTarget: { value } }) => onChange({ stream_url: value })}
        inputMode="url"
      />
      <TagsInput
        label="Tags"
        description="Up to 20; Enter or a comma ends one"
        value={values.tags}
        error={errors.tags}
        onChange={(tags) => onChange({ tags })}
        maxTags={20}
      />
      <Textarea
        label="Notes"
        value={values.notes}
        error={errors.notes}
        onChange={({ currentTarget: { value } }) => onChange({ notes: value })}
        autosize
        minRows={2}
      />
      <Switch
        label="Certified operators only"
        description="Whether operators need a certification for its type"
        checked={values.require_certification}
        error={errors.require_certification}
        onChange={({ currentTarget: { checked } }) => onChange({ require_certification: checked })}
      />
    </>
  )
}

/** The delay above which a robot is not driven. */
export const LatencyField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label="Latency limit"
    description="In milliseconds, 50 to 10,000: with more delay than this the robot is not driven"
    suffix=" ms"
    min={50}
    max={10_000}
    allowDecimal={false}
    {...props}
  />
)

/** Who may clear a stop that the owner or an admin requested. */
export const StopClearField = (props: {
  value: 'owner' | 'anyone'
  error: string | undefined
  onChange: (value: 'owner' | 'anyone') => void
}) => (
  <Radio.Group
    label="Clearing your stops"
    description="Who may clear a remote stop of yours or of an admin. It complements the emergency stop device of the robot and never replaces it."
    value={props.value}
    error={props.error}
    onChange={(value) => props.onChange(value === 'anyone' ? 'anyone' : 'owner')}
  >
    <Stack gap="xs" mt="xs">
      <Radio value="owner" label="You or an admin; the operator can ask for it" />
      <Radio value="anyone" label="The operator too" />
    </Stack>
  </Radio.Group>
)
