import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ErrorCode } from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readableIssues } from '../../../src/core/errors/errors.ts'
import type { Endpoint } from '../../../src/core/http/endpoint.ts'
import { parseOptions } from '../../../src/core/http/validation-messages.ts'
import { declaredEndpoints } from '../../../src/roles/api/declared-endpoints.ts'
import { rawWordsIn } from '../../support/browser/raw-texts.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Returns the prose of an error: without quoted input, names of fields, and lists of allowed values. */
const wordsOf = (error: string): string =>
  error
    .replace(/"(?:[^"\\]|\\.)*"?/g, '')
    .replace(/(^|; )[\w.-]+: /g, '$1')
    .replace(/must be (one of: )?[\w*.-]+(, [\w*.-]+)*(?=;|$)/g, '')
    .replace(/\b[A-Z]+(_[A-Z]+)+\b/g, '') // settings, which an administrator has to check

const rawIn = (error: string): string[] => rawWordsIn(wordsOf(error))

test('the errors of the API for bad input are prose', () => {
  const errors = declaredEndpoints().flatMap((spec) =>
    badInputsTo(spec).flatMap(([schema, value]) => {
      const { error } = schema.safeParse(value, parseOptions)
      return error
        ? [{ route: `${spec.method.toUpperCase()} ${spec.path}`, text: readableIssues(error) }]
        : []
    }),
  )
  expect(errors.length).toBeGreaterThan(1_000)
  const raw = errors.flatMap(({ route, text }) => rawIn(text).map((word) => `${route}: ${word}: ${text}`))
  expect(raw).toEqual([])
})

const INVALID_VALUES = [
  null,
  7,
  -1.5,
  'x',
  '',
  ' ',
  'x'.repeat(20_000),
  true,
  [],
  {},
  [1],
  '2026-13-40',
  1e300,
]

/** Inputs with every field missing, of every wrong type, and with one that does not exist. */
function badInputsTo({ params, query, body }: Endpoint): (readonly [schema: z.ZodType, value: unknown])[] {
  const inputsTo = (schema: z.ZodType | undefined, values: readonly unknown[], whole: readonly unknown[]) =>
    schema
      ? [
          ...whole.map((value) => [schema, value] as const),
          ...fieldsOf(schema).flatMap((name) => values.map((value) => [schema, { [name]: value }] as const)),
        ]
      : []
  return [
    ...inputsTo(params, ['x'], []),
    ...inputsTo(query, ['x', '', '-1', '9'.repeat(12)], [{ no_such_field: '1' }]),
    ...inputsTo(body, INVALID_VALUES, [undefined, {}, [], { no_such_field: 1 }]),
  ]
}

/** Returns the names of the fields that a schema describes. */
function fieldsOf(schema: z.ZodType): string[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return Object.keys(json.properties ?? {})
}

test('every error text in the sources is prose', () => {
  const errors = ['src', 'hub', 'gateway'].flatMap(textsIn)
  expect(errors.length).toBeGreaterThan(120)
  expect(errors.flatMap((error) => rawIn(error).map((word) => `${word}: ${error}`))).toEqual([])
})

/** Returns the texts that errors are created with; a code may precede the text. */
function textsIn(folder: string): string[] {
  const made =
    /(?:conflict|badRequest|forbidden|unauthorized|unavailable|gone|malformed\(\w+,|new AppError\(\d+,|message:)\(?\s*(?:'[a-z_]+',\s*)?(['"`])((?:(?!\1).)+)\1/gs
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('demo'))
    .flatMap((name) => [...readFileSync(join(root, folder, name), 'utf8').matchAll(made)])
    .map(([, , text = '']) => text.replace(/\$\{[^}]*\}/g, 'x'))
    .filter((text) => !ErrorCode.safeParse(text).success) // the text of these is not a literal
}

describe('a validation error in plain words', () => {
  const schema = z.strictObject({
    robot_type: z.string(),
    limit: z.number().int().min(1).max(100),
    when: z.iso.datetime(),
    kind: z.enum(['slow', 'fast']),
    tags: z.array(z.string().max(3)).max(2),
    on: z.boolean(),
  })
  const whole = { robot_type: 'a', limit: 1, when: '2026-11-20T09:30:00Z', kind: 'slow', tags: [], on: true }

  test.each([
    [{ robot_type: undefined }, 'robot_type: is required'],
    [{ robot_type: 7 }, 'robot_type: must be text'],
    [{ limit: 0 }, 'limit: must be at least 1'],
    [{ limit: 101 }, 'limit: must be at most 100'],
    [{ limit: 1.5 }, 'limit: must be a whole number'],
    [{ limit: '1' }, 'limit: must be a number'],
    [{ when: 'now' }, 'when: must be a time in ISO 8601 with its zone, such as 2026-11-20T09:30:00Z'],
    [{ kind: 'medium' }, 'kind: must be one of: slow, fast'],
    [{ tags: ['a', 'b', 'c'] }, 'tags: must have at most 2 entries'],
    [{ tags: ['long'] }, 'tags.0: must have at most 3 characters'],
    [{ on: 'yes' }, 'on: must be true or false'],
    [{ colour: 'red' }, '"colour" is not a field here'],
  ])('%j', (change, text) => {
    const { error } = schema.safeParse({ ...whole, ...change }, parseOptions)
    expect(error && readableIssues(error)).toBe(text)
  })
})
