import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ErrorCode } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { declaredEndpoints } from '../../../src/app/declared-endpoints.ts'
import { readableIssues } from '../../../src/core/errors/errors.ts'
import type { Endpoint } from '../../../src/core/http/endpoint.ts'
import { parseOptions } from '../../../src/core/http/validation-messages.ts'
import { rawWordsIn } from '../../support/browser/raw-texts.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

/** Returns the prose of an error: without quoted input, names of fields, and lists of allowed values. */
const wordsOf = (error: string): string =>
  error
    .replace(/"(?:[^"\\]|\\.)*"?/g, '')
    .replace(/(^|; )[\w.-]+: /g, '$1')
    .replace(/must be (one of: )?[\w*.-]+(, [\w*.-]+)*(?=;|$)/g, '')
    .replace(/\b[A-Z]+(_[A-Z]+)+\b/g, '') // settings, which an administrator has to check

const rawIn = (error: string): string[] => rawWordsIn(wordsOf(error))

describe('the errors of the API for bad input', () => {
  let world: World
  let users: Record<'client' | 'operator' | 'admin', TestUser>
  beforeAll(async () => {
    world = await createWorld()
    users = { client: await world.client(), operator: await world.operator(), admin: await world.admin() }
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const withInput = declaredEndpoints().filter(({ body, query, params }) => body ?? query ?? params)

  test.each(withInput.map((spec) => `${spec.method.toUpperCase()} ${spec.path}`))(
    '%s reports them in prose',
    async (route) => {
      const spec = withInput.find(
        ({ method, path }) => `${method.toUpperCase()} ${path}` === route,
      ) as Endpoint
      const role = spec.access === 'public' ? undefined : spec.access.role
      const errors: string[] = []
      for (const [path, body] of badRequestsTo(spec)) {
        const response = await fetch(world.baseUrl + path, {
          method: spec.method.toUpperCase(),
          headers: {
            'Content-Type': 'application/json',
            Authorization: `Bearer ${users[role ?? 'client'].token}`,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        if (response.status >= 400) errors.push(JSON.parse(text).error)
      }
      expect(errors.length, 'checked errors').toBeGreaterThan(0)
      expect(errors.flatMap((error) => rawIn(error).map((word) => `${word}: ${error}`))).toEqual([])
    },
  )
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

/** Requests with every field missing, of every wrong type, and with one that does not exist. */
function badRequestsTo(spec: Endpoint): (readonly [path: string, body?: unknown])[] {
  const path = (id: string) => spec.path.replace(/\{\w+\}/g, id)
  const fields = fieldsOf(spec.body)
  const mayHaveBody = spec.method !== 'get' && spec.method !== 'delete'
  return [
    ...(spec.params ? [[path('x')] as const] : []),
    ...fieldsOf(spec.query).flatMap((name) =>
      ['x', '', '-1', '9'.repeat(12)].map((value) => [`${path(UNKNOWN_ID)}?${name}=${value}`] as const),
    ),
    ...(spec.query ? [[`${path(UNKNOWN_ID)}?no_such_field=1`] as const] : []),
    ...(mayHaveBody
      ? [
          ...[{}, [], { no_such_field: 1 }].map((body) => [path(UNKNOWN_ID), body] as const),
          ...fields.flatMap((name) =>
            INVALID_VALUES.map((value) => [path(UNKNOWN_ID), { [name]: value }] as const),
          ),
        ]
      : []),
  ]
}

/** Returns the names of the fields that a schema describes. */
function fieldsOf(schema: z.ZodType | undefined): string[] {
  if (!schema) return []
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
    .filter((name) => name.endsWith('.ts') && !name.startsWith('demo'))
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
