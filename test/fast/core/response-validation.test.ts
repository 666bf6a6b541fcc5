import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { AppError, conflict, notFound, unavailable } from '../../../src/core/errors/errors.ts'
import { createApp } from '../../../src/core/http/app.ts'
import { type Endpoint, endpoint } from '../../../src/core/http/endpoint.ts'

const Item = z.object({ name: z.string(), parts: z.array(z.object({ size: z.number() })) })
const valid = { name: 'a', parts: [{ size: 1 }] }

/** Routes that violate their declaration, and routes that follow it. */
const routes: Endpoint[] = [
  item('exact', async () => valid),
  item('wrong-type', async () => ({ ...valid, name: 7 as unknown as string })),
  item('missing-key', async () => ({ name: 'a' }) as typeof valid),
  item('extra-key', async () => ({ ...valid, secret: 'x' })),
  item('extra-key-within', async () => ({ name: 'a', parts: [{ size: 1, secret: 'x' }] })),
  item('an-undefined-key', async () => ({ ...valid, unset: undefined })),
  item('other-status', async (http) => {
    http.status = 202
    return valid
  }),
  item('undeclared-refusal', async () => {
    throw conflict('robot_offline', 'because')
  }),
  item('undeclared-code', async () => {
    throw new AppError(502, 'identity_provider_error', 'because')
  }),
  item('not-ready', async () => {
    throw unavailable('no_media_server', 'It is starting.')
  }),
  item('declared-refusal', async () => {
    throw new AppError(502, 'payment_provider_error', 'because')
  }),
  item(
    'alternative',
    async (http) => {
      http.status = 202
      return valid
    },
    [202, Item],
  ),
  item(
    'other-alternative',
    async (http) => {
      http.status = 202
      return valid
    },
    [202, z.object({ later: z.boolean() })],
  ),
  item('failing', async () => {
    throw new Error('a secret')
  }),
  endpoint({
    method: 'get',
    path: '/nothing',
    summary: 'Answers nothing',
    access: 'public',
    response: [204],
    run: async () => {},
  }),
  endpoint({
    method: 'get',
    path: '/body',
    summary: 'Answers a body',
    access: 'public',
    response: [204],
    run: async ({ http }) => {
      http.body = { more: 'than promised' }
    },
  }),
  endpoint({
    method: 'get',
    path: '/things/{id}',
    summary: 'Finds nothing',
    access: 'public',
    response: [200, Item],
    params: z.strictObject({ id: z.string() }),
    run: async () => {
      throw notFound('Thing')
    },
  }),
  ...['text/csv', 'text/html'].map((type) =>
    endpoint({
      method: 'get',
      path: `/as-${type.slice(5)}`,
      summary: 'Answers a file',
      access: 'public',
      response: [200],
      media: ['text/csv'],
      run: async ({ http }) => {
        http.type = type
        http.body = 'a,b'
      },
    }),
  ),
]

function item(
  name: string,
  run: (http: { status: number }) => Promise<z.infer<typeof Item>>,
  alternative?: [number, z.ZodType],
): Endpoint {
  return endpoint({
    method: 'get',
    path: `/${name}`,
    summary: name,
    access: 'public',
    response: [200, Item],
    errors: {
      502: { payment_provider_error: 'when the test requests it' },
      503: { no_media_server: 'when the test requests it' },
    },
    ...(alternative && {
      otherResponses: { [alternative[0]]: ['when the test requests it', alternative[1]] },
    }),
    run: ({ http }) => run(http),
  })
}

const logged: string[] = []
const servers = [true, false].map((checkAnswers) =>
  createServer(
    createApp({
      corsOrigins: [],
      trustedProxies: 0,
      https: false,
      before: [],
      endpoints: routes,
      validateResponses: checkAnswers,
      log: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
      authenticate: async () => undefined,
    }).callback(),
  ),
)
beforeAll(() => Promise.all(servers.map((server) => new Promise<void>((done) => server.listen(0, done)))))
afterAll(() => servers.map((server) => server.close()))

async function ask(path: string, checked = true) {
  logged.length = 0
  const { port } = servers[checked ? 0 : 1]!.address() as AddressInfo
  const reply = await fetch(`http://localhost:${port}${path}`)
  return { status: reply.status, text: await reply.text() }
}

test.each([
  ['/exact', 200],
  ['/an-undefined-key', 200],
  ['/declared-refusal', 502],
  ['/alternative', 202],
  ['/nothing', 204],
  ['/things/x', 404],
  ['/as-csv', 200],
])('%s matches its declaration', async (path, status) => {
  expect(await ask(path)).toEqual({ status, text: expect.any(String) })
})

test.each([
  ['/wrong-type', /answers 200 with .*expected string.*name/s],
  ['/missing-key', /answers 200 with .*parts/s],
  ['/extra-key', /a value that the schema does not describe: secret/],
  ['/extra-key-within', /a value that the schema does not describe: parts\.0\.secret/],
  ['/other-status', /answers 202 with an undeclared status/],
  ['/undeclared-refusal', /responds with the undeclared status 409/],
  ['/undeclared-code', /responds with the undeclared error 502 identity_provider_error/],
  ['/other-alternative', /answers 202 with .*later/s],
  ['/body', /answers 204 with a body of the undeclared type application\/json/],
  ['/as-html', /a body of the undeclared type text\/html/],
  ['/failing', /a secret/],
])('%s is a 500, and the log says why', async (path, why) => {
  expect(await ask(path)).toEqual({
    status: 500,
    text: '{"error":"The platform failed to answer this request. Try again later."}',
  })
  expect(logged).toEqual([expect.stringMatching(/"level":50.*request failed/)])
  expect(JSON.parse(logged[0] as string).err.message).toMatch(why)
})

test('what is not ready yet is a warning without a stack', async () => {
  expect((await ask('/not-ready')).status).toBe(503)
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, msg: 'not ready', path: '/not-ready', reason: 'It is starting.' },
  ])
  expect(logged[0]).not.toContain('stack')
})

test('without validation, responses are sent unchanged', async () => {
  expect(await ask('/extra-key', false)).toMatchObject({
    status: 200,
    text: expect.stringContaining('secret'),
  })
  expect(await ask('/undeclared-refusal', false)).toEqual({ status: 409, text: '{"error":"because"}' })
})
