import { JsonInput } from '@mantine/core'
import { t } from '../texts/texts.ts'

interface Props {
  readonly label: string
  readonly description: string
  /** As JSON; empty for none. */
  readonly value: string
  readonly error?: string | undefined
  readonly onChange: (value: string) => void
}

/** Renders the field for a declared schema, and says what is wrong with its text. */
export const SchemaField = ({ error, ...props }: Props) => (
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
