import { JsonInput, NumberInput, Radio, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'

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
        label={t('robots.fields.name')}
        value={values.name}
        error={errors.name}
        onChange={({ currentTarget: { value } }) => onChange({ name: value })}
        required
      />
      {children}
      <TextInput
        label={t('robots.fields.video')}
        description={t('robots.fields.videoNote')}
        placeholder={t('robots.fields.videoExample')}
        value={values.stream_url}
        error={errors.stream_url}
        onChange={({ currentTarget: { value } }) => onChange({ stream_url: value })}
        inputMode="url"
      />
      <TagsInput
        label={t('robots.fields.tags')}
        description={t('robots.fields.tagsNote')}
        value={values.tags}
        error={errors.tags}
        onChange={(tags) => onChange({ tags })}
        maxTags={20}
      />
      <Textarea
        label={t('robots.fields.notes')}
        description={t('robots.fields.notesNote')}
        value={values.notes}
        error={errors.notes}
        onChange={({ currentTarget: { value } }) => onChange({ notes: value })}
        autosize
        minRows={2}
      />
    </>
  )
}

/** Renders the switch for robots that only certified operators may drive. */
export const CertifiedField = (props: {
  value: boolean
  error: string | undefined
  onChange: (requireCertification: boolean) => void
}) => (
  <Switch
    label={t('robots.fields.certifiedOnly')}
    description={t('robots.fields.certifiedOnlyNote')}
    checked={props.value}
    error={props.error}
    onChange={({ currentTarget: { checked } }) => props.onChange(checked)}
  />
)

/** Renders the field for the notes that operators see before a session. */
export const OperatorNotesField = (props: {
  value: string
  error: string | undefined
  onChange: (operatorNotes: string) => void
}) => (
  <Textarea
    label={t('robots.fields.operatorNotes')}
    description={t('robots.fields.operatorNotesNote')}
    maxLength={2_000}
    value={props.value}
    error={props.error}
    onChange={({ currentTarget: { value } }) => props.onChange(value)}
    autosize
    minRows={2}
  />
)

/** Renders the field for a limit in milliseconds. Empty means none where a robot may be without it. */
export const LimitField = (props: {
  label: string
  description: string
  min: number
  max: number
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => <NumberInput suffix=" ms" allowDecimal={false} {...props} />

/** Renders the fields for the commands that the robot accepts. An empty text stands for those of its model. */
export const ControlSchemaFields = (props: {
  schema: string
  isStrict: boolean
  error: string | undefined
  onChange: (change: { control_schema?: string; strict_control?: boolean }) => void
}) => (
  <>
    <SchemaField
      label={t('robots.fields.controlSchema')}
      description={t('robots.fields.controlSchemaNote')}
      value={props.schema}
      error={props.error}
      onChange={(control_schema) => props.onChange({ control_schema })}
    />
    <Switch
      label={t('robots.fields.strictControl')}
      description={t('robots.fields.strictControlNote')}
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
    label={t('robots.fields.clearStops')}
    description={t('robots.fields.clearStopsNote')}
    value={props.value}
    error={props.error}
    onChange={(value) => props.onChange(value === 'anyone' ? 'anyone' : 'owner')}
  >
    <Stack gap="xs" mt="xs">
      <Radio value="owner" label={t('robots.fields.clearedByOwner')} />
      <Radio value="anyone" label={t('robots.fields.clearedByAnyone')} />
    </Stack>
  </Radio.Group>
)

interface SchemaProps {
  readonly label: string
  readonly description: string
  /** As JSON; empty for none. */
  readonly value: string
  readonly error?: string | undefined
  readonly onChange: (value: string) => void
}

/** Renders the field for a declared schema, and says what is wrong with its text. */
export const SchemaField = ({ error, ...props }: SchemaProps) => (
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

/** Returns the text of a schema for its field. */
export const schemaText = (schema: Record<string, unknown> | null): string =>
  schema === null ? '' : JSON.stringify(schema, null, 2)

/** Returns the schema of a text without a problem. */
export const parseSchema = (text: string): Record<string, unknown> | null =>
  text.trim() === '' ? null : JSON.parse(text)
