import type { z } from 'zod'

type Issue = z.core.$ZodRawIssue

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a time',
  null: 'null',
}

const formats: Readonly<Record<string, string>> = {
  email: 'an e-mail address, such as ada@example.com',
  uuid: 'an id, such as 5b1f9a86-2f0c-4c0e-9d5f-3f1f6f3a7f10',
  url: 'a web address, such as https://example.com',
  datetime: 'a time in ISO 8601 with its zone, such as 2026-11-20T09:30:00Z',
  date: 'a date, such as 2026-11-20',
}

const MAX_LISTED_VALUES = 40

/**
 * Returns a message that says what is wrong with a value and what to send instead. It follows the name of the field.
 * Pass it to `parse` as `error`; messages of the schema have precedence.
 */
function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${kinds[issue.expected] ?? 'of another type'}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? 'in another form. See the description of the API'}`
    case 'too_small':
      return issue.minimum === 1 && issue.origin !== 'number' && issue.origin !== 'int'
        ? 'must not be empty'
        : bound(issue, 'at least', issue.minimum, issue.inclusive ?? true)
    case 'too_big':
      return bound(issue, 'at most', issue.maximum, issue.inclusive ?? true)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return unknownFields(issue.keys)
    case 'invalid_union':
      return issue.discriminator === undefined ? 'does not match any of the accepted forms' : 'is not known'
    case 'invalid_key':
      return 'has a name that is not accepted here'
    default:
      return 'is not accepted here'
  }
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_LISTED_VALUES).map(String).join(', ')
  return values.length === 1 ? `must be ${shown}` : `must be one of: ${shown}`
}

function bound(issue: Issue, what: 'at least' | 'at most', limit: unknown, inclusive: boolean): string {
  const edge = inclusive ? what : what === 'at least' ? 'more than' : 'less than'
  const origin = 'origin' in issue ? issue.origin : undefined
  const count = `${limit}`
  if (origin === 'string') return `must have ${edge} ${count} characters`
  if (origin === 'array' || origin === 'set' || origin === 'map') return `must have ${edge} ${count} entries`
  if (issue.code === 'too_big' && Number(limit) === Number.MAX_SAFE_INTEGER) return 'is too large a number'
  return `must be ${edge} ${count}`
}

/** Names the unknown fields in quotes, because they may be any text. */
function unknownFields(keys: readonly string[]): string {
  const named = keys
    .slice(0, 5)
    .map((key) => JSON.stringify(key).slice(0, 100))
    .join(', ')
  return keys.length === 1 ? `${named} is not a field here` : `${named} are not fields here`
}

/** Makes `schema.parse(value, parseOptions)` fail with readable messages. */
export const parseOptions = { error: describeIssue }
