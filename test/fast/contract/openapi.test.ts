import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../../src/core/http/endpoint.ts'
import { differenceFrom } from '../../../src/core/http/response-validation.ts'
import { apiEndpoints } from '../../../src/roles/api/api.ts'
import { declaredEndpoints, STORED_BASE_URL } from '../../../src/roles/api/declared-endpoints.ts'
import { permissionsPage } from '../../../src/roles/api/docs/permissions-page.ts'
import { describeApi, type OpenApiDocument } from '../../../src/roles/api/openapi/document.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

let world: World
let endpoints: Endpoint[]
let served: OpenApiDocument
beforeAll(async () => {
  world = await createWorld()
  endpoints = apiEndpoints(world.platform, () => '')
  served = (await (await fetch(`${world.baseUrl}/api/openapi.json`)).json()) as OpenApiDocument
})
afterAll(() => world[Symbol.asyncDispose]())

const operationOf = (document: OpenApiDocument, { method, path }: Pick<Endpoint, 'method' | 'path'>) =>
  document.paths![path]![method]!
const routeOf = ({ method, path }: Endpoint) => `${method.toUpperCase()} ${path}`
const jsonOf = (part: unknown) =>
  (part as { content?: Record<string, { schema?: unknown; example?: unknown }> } | undefined)?.content?.[
    'application/json'
  ]
const inText = (document: OpenApiDocument) => `${JSON.stringify(document, null, 2)}\n`

describe('GET /api/openapi.json', () => {
  test('describes every route of the API, and no other', () => {
    const described = Object.entries(served.paths!).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.sort()).toEqual(endpoints.map(routeOf).sort())
    expect(served).toMatchObject({ openapi: '3.1.1', servers: [{ url: world.baseUrl }] })
  })

  test('says who may do what in docs/permissions.md; `npm run openapi` writes it', () => {
    expect(readFileSync(join(root, 'docs/permissions.md'), 'utf8')).toBe(permissionsPage(declaredEndpoints()))
  })

  test('matches docs/openapi.json; `npm run openapi` writes it', () => {
    const stored = readFileSync(join(root, 'docs/openapi.json'), 'utf8')
    expect(inText({ ...served, servers: [{ url: STORED_BASE_URL }] })).toBe(stored)
    expect(inText(describeApi({ endpoints: declaredEndpoints(), baseUrl: STORED_BASE_URL }))).toBe(stored)
  })

  test('is the same text for every order of the routes', () => {
    const [firstDocument, other] = [endpoints, endpoints.toReversed()].map((listed) =>
      inText(describeApi({ endpoints: listed, baseUrl: STORED_BASE_URL })),
    )
    expect(firstDocument).toBe(other)
  })

  test('answers 304 for a current ETag', async () => {
    const url = `${world.baseUrl}/api/openapi.json`
    const first = await fetch(url)
    expect(first.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
    const ETag = first.headers.get('ETag')
    expect(ETag).toMatch(/^W\/"[\w-]{20,}"$/)
    const ask = (etag: string) =>
      // By default, fetch would request a fresh response despite the ETag.
      fetch(url, { headers: { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' } })
    const again = await ask(ETag as string)
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await ask('W/"other"')).status).toBe(200)
  })

  test('describes every tag in prose', () => {
    for (const { name, description } of served.tags!) {
      expect(description, name).toMatch(/^\w.{20,}/)
      expect(description, name).not.toContain('/api/')
    }
  })

  test('shows for a 403 the text that the route answers with', async () => {
    const user = await world.newUser()
    const needsRole = endpoints.filter(({ access }) => access !== 'public' && access.role)
    expect(needsRole.length).toBeGreaterThan(20)
    for (const spec of needsRole) {
      const { role } = spec.access as { role: string }
      const { 403: forbidden } = operationOf(served, spec).responses!
      expect(jsonOf(forbidden)?.example, routeOf(spec)).toEqual({
        error: `You need the ${role} role for this.`,
      })
    }
    const reply = await user.get('/api/admin/audit')
    expect(reply).toMatchObject({ status: 403, body: { error: 'You need the admin role for this.' } })
  })

  test.each([
    ['approve', 'APPROVED'],
    ['reject', 'REJECTED'],
  ])('shows a decided certification as the response of %s', (verb, status) => {
    const { responses } = served.paths![`/api/admin/certifications/{id}/${verb}`]!.post!
    expect(jsonOf(responses![200])?.example).toMatchObject({ status, decided_at: expect.any(String) })
  })

  test('over https names the cookie for https', () => {
    const cookieAt = (baseUrl: string) =>
      describeApi({ endpoints, baseUrl }).components?.securitySchemes?.sessionCookie
    expect(cookieAt('http://hub.example')).toMatchObject({ in: 'cookie', name: '__session' })
    expect(cookieAt('https://hub.example')).toMatchObject({ in: 'cookie', name: '__Host-session' })
  })
})

describe('every operation', () => {
  test('has a unique name, and says what it does and who may call it', () => {
    const operations = endpoints.map((spec) => operationOf(served, spec))
    const names = operations.map(({ operationId }) => operationId)
    expect(names.filter((name) => !/^[a-z]+[A-Z]\w+$/.test(name ?? ''))).toEqual([])
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    for (const { summary, description, tags } of operations) {
      expect([summary, description]).toEqual([expect.stringMatching(/.{5}/), expect.stringMatching(/.{10}/)])
      expect(served.tags?.map(({ name }) => name)).toContain(tags?.[0])
    }
  })

  test('requires the credentials that its route accepts', () => {
    for (const spec of endpoints) {
      const schemes = operationOf(served, spec).security?.flatMap(Object.keys)
      const session = ['sessionToken', 'sessionCookie']
      if (spec.access === 'public') expect(schemes, routeOf(spec)).toEqual([])
      else expect(schemes, routeOf(spec)).toEqual(spec.access.sessionOnly ? session : [...session, 'apiKey'])
    }
  })

  test('declares the errors that follow from its access and its input, each with the common error body', () => {
    for (const spec of endpoints) {
      const { responses = {} } = operationOf(served, spec)
      const { access } = spec
      const expected = {
        401: access !== 'public',
        403: access !== 'public',
        400: Boolean(spec.params || spec.query || spec.body || spec.upload),
        404: Boolean(spec.params),
        429: true,
        500: true,
        503: true,
      }
      const names = Object.entries(expected).filter(([, is]) => is)
      expect(Object.keys(responses), routeOf(spec)).toEqual(
        expect.arrayContaining(names.map(([status]) => status)),
      )
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 400 || spec.otherResponses?.[Number(status)]) continue
        const full = '$ref' in response ? lookUp(response.$ref) : response
        expect(jsonOf(full)?.schema).toEqual({ $ref: '#/components/schemas/Error' })
        expect((full as { headers?: object }).headers).toHaveProperty(['X-Request-Id'])
      }
    }
    expect(lookUp('#/components/responses/Unauthorized')).toHaveProperty(['headers', 'WWW-Authenticate'])
    expect(lookUp('#/components/responses/TooManyRequests')).toHaveProperty(['headers', 'Retry-After'])
  })

  test('describes its purpose and its errors in a common style', () => {
    for (const spec of endpoints) {
      expect(spec.summary, routeOf(spec)).toMatch(/^[A-Z][a-z]+s,? /) // Lists, Returns, Creates …
      for (const cases of Object.values(spec.errors ?? {})) {
        for (const when of Object.values(cases)) expect(when, routeOf(spec)).toMatch(/^when /)
      }
    }
  })

  test('that is a POST accepts an Idempotency-Key, except for downloads and uploads', () => {
    const reference = { $ref: '#/components/parameters/IdempotencyKey' }
    for (const spec of endpoints) {
      const { parameters = [] } = operationOf(served, spec)
      const other = /\/(export|avatar)$|\/wh[ie]p\//.test(spec.path)
      if (spec.method === 'post' && !other) expect(parameters).toContainEqual(reference)
      else expect(parameters).not.toContainEqual(reference)
    }
  })

  function lookUp(ref: string): unknown {
    const [, , section, name] = ref.split('/') as [string, string, 'responses', string]
    return served.components?.[section]?.[name]
  }
})

describe('examples', () => {
  test('of request bodies are valid for their schema', () => {
    for (const spec of endpoints) {
      if (!spec.body) continue
      const example = jsonOf(operationOf(served, spec).requestBody)?.example
      expect(spec.body.safeParse(example), advice(spec, example)).toMatchObject({ success: true })
    }
  })

  test('of parameters are valid as part of a URL', () => {
    for (const spec of endpoints) {
      for (const [location, schema] of [
        ['path', spec.params],
        ['query', spec.query],
      ] as const) {
        const named = (operationOf(served, spec).parameters ?? []).flatMap((parameter) =>
          'in' in parameter && parameter.in === location ? [[parameter.name, String(parameter.example)]] : [],
        )
        const example = Object.fromEntries(named)
        if (schema) expect(schema.safeParse(example), advice(spec, example)).toMatchObject({ success: true })
        else expect(named).toEqual([])
      }
    }
  })

  test('of responses match the schema exactly', () => {
    for (const spec of endpoints) {
      const { responses = {} } = operationOf(served, spec)
      const answers = { [spec.response[0]]: spec.response[1] } as Record<string, z.ZodType | undefined>
      for (const [status, [, body]] of Object.entries(spec.otherResponses ?? {})) answers[status] = body
      for (const [status, schema] of Object.entries(answers)) {
        const example = jsonOf(responses[status])?.example
        if (schema) expect(differenceFrom(schema, example), advice(spec, example)).toBeUndefined()
      }
    }
  })

  const advice = (spec: Endpoint, example: unknown) =>
    `${routeOf(spec)}: give a field .meta({ examples: […] }) where this is wrong: ${JSON.stringify(example)}`
})

describe('schemas', () => {
  test('have one name each, for requests and responses', () => {
    const schemas = Object.entries(served.components?.schemas ?? {})
    expect(schemas.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'Robot',
        'ClientSession',
        'OperatorSession',
        'Profile',
        'ChatMessage',
        'Error',
      ]),
    )
    expect(schemas.filter(([name]) => /^_|Output$/.test(name))).toEqual([])
    const shapes = schemas.map(([name, schema]) => [JSON.stringify(schema), name] as const)
    const doubles = shapes.filter(
      ([shape], index) => shapes.findIndex(([other]) => other === shape) !== index,
    )
    expect(doubles).toEqual([])
  })

  test('of requests make fields with a default optional; those of responses require them', () => {
    const post = operationOf(served, { method: 'post', path: '/api/client/robots' })
    expect(jsonOf(post.requestBody)?.schema).toMatchObject({
      required: ['name', 'robot_type', 'hardware_id'],
      additionalProperties: false,
    })
    const { required } = served.components!.schemas!.Robot as { required: string[] }
    expect(required).toEqual(expect.arrayContaining(['stream_url', 'tags', 'notes']))
  })

  test('of responses allow additional fields; those of requests do not', () => {
    const closed = Object.values(served.paths!).flatMap((path) =>
      Object.values(path as object).flatMap(({ responses }: { responses: object }) =>
        Object.values(responses).filter((response) =>
          everything(response).includes('"additionalProperties":false'),
        ),
      ),
    )
    expect(closed).toEqual([])
  })

  /** Returns a part of the description as text, with every component that it references. */
  function everything(part: unknown, seen = new Set<string>()): string {
    const text = JSON.stringify(part)
    const refs = [...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)].filter(([ref]) => !seen.has(ref))
    for (const [ref] of refs) seen.add(ref)
    const components = served.components as Record<string, Record<string, unknown>>
    return text + refs.map(([, section, name]) => everything(components[section!]![name!], seen)).join('')
  }

  test('of numbers in a query declare numbers with their limits', () => {
    const { parameters } = operationOf(served, { method: 'get', path: '/api/sessions' })
    expect(parameters).toContainEqual(
      expect.objectContaining({
        name: 'limit',
        in: 'query',
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
      }),
    )
  })

  test('of health describe the 503 with the same shape', () => {
    const { responses } = operationOf(served, { method: 'get', path: '/api/health' })
    expect(jsonOf(responses?.['503'])?.schema).toEqual({ $ref: '#/components/schemas/Health' })
  })
})

describe('the declarations of a route', () => {
  const made = describeApi({
    baseUrl: STORED_BASE_URL,
    endpoints: [
      endpoint({
        method: 'post',
        path: '/api/things/{id}/picture',
        summary: 'Takes a picture',
        access: { role: 'client', sessionOnly: true },
        params: idParams('robot'),
        upload: { field: 'picture', types: ['image/png', 'image/webp'], maxBytes: 5 * 1024 * 1024 },
        response: [202],
        errors: { 403: { action_not_allowed: 'when the picture shows nothing' } },
        run: async () => {},
      }),
      endpoint({
        method: 'post',
        path: '/api/things/export',
        summary: 'Gives all away',
        access: {},
        body: z.strictObject({ format: z.enum(['csv', 'pdf']) }),
        response: [200],
        media: ['text/csv', 'application/pdf', 'application/json'],
        download: z.object({ things: z.array(z.string()) }),
        run: async () => {},
      }),
    ],
  })
  const picture = operationOf(made, { method: 'post', path: '/api/things/{id}/picture' })
  const all = operationOf(made, { method: 'post', path: '/api/things/export' })

  test('an upload is a multipart body with one file', () => {
    expect(picture.requestBody).toEqual({
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            properties: {
              picture: {
                type: 'string',
                format: 'binary',
                description: 'A file of at most 5 MB: image/png, image/webp',
              },
            },
            required: ['picture'],
          },
          encoding: { picture: { contentType: 'image/png, image/webp' } },
          example: { picture: 'the bytes of the file' },
        },
      },
    })
  })

  test('a download is text, bytes or JSON of a known shape', () => {
    expect(all.responses?.['200']).toMatchObject({
      content: {
        'text/csv': { schema: { type: 'string' } },
        'application/pdf': { schema: { type: 'string', format: 'binary' } },
        'application/json': { example: { things: ['things'] } },
      },
    })
  })

  test('a declared error is listed with the implied ones', () => {
    expect(picture.operationId).toBe('postThingPicture')
    expect(picture.description).toBe(
      'This needs the client role, and a session token; API keys are rejected.',
    )
    expect(picture.responses?.['403']?.description).toMatch(
      /^When the picture shows nothing \(`action_not_allowed`\), or when you do not have the client role \(`role_required`\), or /,
    )
    expect(picture.responses?.['404']).toEqual({ $ref: '#/components/responses/NotFound' })
    expect(Object.keys(picture.responses ?? {})).toEqual(
      ['202', '400', '401', '403', '404', '413', '415', '429', '500', '503'].map(String),
    )
  })
})
