import { JsonInput, type JsonInputProps, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { FieldOf } from '../base/form.tsx'
import { t } from '../texts/texts.ts'

/** The form values of a robot. */
export interface RobotValues {
  readonly name: string
  readonly stream_url: string
  readonly tags: string[]
  readonly notes: string
  readonly require_certification: boolean
}

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

/** Renders the switch for robots that only certified operators may drive. */
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

/** Returns the text of a schema for its field. */
export const schemaText = (schema: Record<string, unknown> | null): string =>
  schema === null ? '' : JSON.stringify(schema, null, 2)

/** Returns the schema of a text without a problem. */
export const parseSchema = (text: string): Record<string, unknown> | null =>
  text.trim() === '' ? null : JSON.parse(text)
