import { randomBytes, randomUUID } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { ErrorCode } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toAppError } from '../../../src/core/errors/errors.ts'
import { listen } from '../../../src/core/http/listener.ts'
import { ensureConsole } from '../../support/browser/console.ts'
import { query } from '../../support/processes/processes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'
const JSON_TYPE = { 'Content-Type': 'application/json' }
const UUID = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/

let world: World
let owner: TestUser
beforeAll(async () => {
  await ensureConsole() // one of the responses is its page
  world = await createWorld({ env: { CORS_ORIGINS: 'https://console.example' } })
  owner = await world.client()
})
afterAll(() => world[Symbol.asyncDispose]())

async function ask(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
  const headers = { Authorization: `Bearer ${owner.token}`, ...init.headers }
  const response = await fetch(world.baseUrl + path, { ...init, headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}
type Answer = Awaited<ReturnType<typeof ask>>

/** Expects a failure in its common form: JSON with the single key `error`, a request id and the security headers. */
function expectError(answer: Answer, status: number) {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
  const body = JSON.parse(answer.text)
  expect(Object.keys(body)).toEqual(['error'])
  expect(ErrorCode.options).toContain(answer.headers.get('Wheelhouse-Error'))
  expect(typeof body.error).toBe('string')
  expect(body.error).not.toBe('')
  expectCommonHeaders(answer)
  return body.error as string
}
function expectCommonHeaders({ headers }: Answer) {
  expect(headers.get('X-Request-Id')).toMatch(UUID)
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('X-Frame-Options')).toBe('SAMEORIGIN')
  expect(headers.get('Referrer-Policy')).toBe('no-referrer')
  expect(headers.get('Content-Security-Policy')).toContain("object-src 'none'")
  expect(headers.get('X-Powered-By')).toBeNull()
}

describe('errors', () => {
  test.each(['/api/nothing', '/api', '/nothing', '/api/sessions/a/b/c', '/auth/nothing', '//api/health'])(
    '%s is a 404',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) expectError(await ask(path, { method }), 404)
    },
  )

  test.each([
    ['PUT', ROBOTS, ['GET', 'HEAD', 'POST']],
    ['DELETE', ROBOTS, ['GET', 'HEAD', 'POST']],
    ['OPTIONS', ROBOTS, ['GET', 'HEAD', 'POST']],
    ['POST', `${ROBOTS}/${randomUUID()}`, ['GET', 'HEAD', 'PATCH', 'DELETE']],
    ['PATCH', '/api/sessions', ['GET', 'HEAD', 'POST']],
    ['GET', '/api/auth/sync', ['POST']],
    ['DELETE', '/api/health', ['GET', 'HEAD']],
    ['POST', '/auth/login', ['GET']],
  ])('%s %s is a 405 with the allowed methods', async (method, path, allowed) => {
    for (const headers of [{}, { Authorization: 'Bearer nonsense' }]) {
      const answer = await ask(path, { method, headers })
      expectError(answer, 405)
      expect(answer.headers.get('Allow')?.split(', ').sort()).toEqual(allowed.toSorted())
    }
  })

  test.each([
    ['POST', '/livez'],
    ['DELETE', '/readyz'],
    ['POST', '/'],
    ['PUT', '/dashboard'],
    ['POST', '/metrics'],
  ])('%s %s is a 405, because the path is read-only', async (method, path) => {
    const answer = await ask(path, { method })
    expectError(answer, 405)
    expect(answer.headers.get('Allow')).toBe('GET, HEAD')
  })

  test.each(['/api/client/robots/', '/API/client/robots', '/api/Sessions', '/api/health/', '/livez/'])(
    '%s is a 404 for every method, because it differs from the existing path',
    async (path) => {
      for (const method of ['GET', 'POST', 'PUT', 'OPTIONS', 'HEAD']) {
        const answer = await ask(path, { method })
        if (method === 'HEAD') expect(answer.status).toBe(404)
        else expectError(answer, 404)
        expect(answer.headers.get('Allow')).toBeNull()
      }
    },
  )

  test.each([
    '/api/sessions/%',
    '/api/sessions/%zz',
    `${ROBOTS}/%c3%28`,
    '/%ff',
    '/auth/%e0%80',
    '/dashboard/%',
  ])('%s, which cannot be decoded, is a 400', async (path) => {
    for (const method of ['GET', 'POST']) {
      expect(expectError(await ask(path, { method }), 400)).toContain('percent-encoded')
    }
  })

  test('a parameter that is not a UUID after decoding is refused with that reason', async () => {
    for (const id of ['%20', '%00', '..%2f..%2fhealth', 'x'.repeat(5_000), randomUUID().slice(1)]) {
      expect(expectError(await ask(`/api/sessions/${id}`), 400), id).toContain('id')
    }
  })

  test.each([
    ['application/json; charset=latin1', 415],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=utf-8', 400],
    ['application/json; charset="UTF-8"', 400],
    ['APPLICATION/JSON', 400],
    ['application/json, application/json', 415],
    ['application/json; charset', 400],
    ['json', 415],
  ])('an empty object as %s is a %i', async (type, status) => {
    expectError(await ask(ROBOTS, { method: 'POST', body: '{}', headers: { 'Content-Type': type } }), status)
  })

  test.each([
    ['text/plain', '{}'],
    ['application/xml', '<a/>'],
    ['application/x-www-form-urlencoded', 'name=x'],
    ['multipart/form-data; boundary=x', '--x--'],
  ])('a body of type %s is a 415', async (type, body) => {
    expectError(await ask(ROBOTS, { method: 'POST', body, headers: { 'Content-Type': type } }), 415)
  })

  test('an unknown Content-Encoding is a 415', async () => {
    const headers = { ...JSON_TYPE, 'Content-Encoding': 'bogus' }
    expectError(await ask(ROBOTS, { method: 'POST', body: '{}', headers }), 415)
  })

  test.each(['', '{', '{"name":', "{'name':1}", '"text"', 'null', '[', '[]', '{}}', '\0', '\ufeff'])(
    'the body %j is a 400',
    async (body) => {
      expectError(await ask(ROBOTS, { method: 'POST', body, headers: JSON_TYPE }), 400)
    },
  )

  test('a body that does not match its Content-Encoding is a 400', async () => {
    const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip' }
    expectError(await ask(ROBOTS, { method: 'POST', body: '{}', headers }), 400)
    const cutShort = gzipSync('{"name":"a"}').subarray(0, 15)
    expectError(await ask(ROBOTS, { method: 'POST', body: cutShort, headers }), 400)
  })

  test('a body beyond the limit is a 413, whether declared, streamed or compressed', async () => {
    const large = JSON.stringify({ name: 'x'.repeat(300_000) })
    expectError(await ask(ROBOTS, { method: 'POST', body: large, headers: JSON_TYPE }), 413)
    const streamed = { body: new Blob([large]).stream(), duplex: 'half' }
    expectError(await ask(ROBOTS, { method: 'POST', headers: JSON_TYPE, ...streamed }), 413)
    const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip' }
    expectError(await ask(ROBOTS, { method: 'POST', body: gzipSync(large), headers }), 413)
  })

  test.each([
    ['is too large', 413, Buffer.from(`"${'x'.repeat(600_000)}"`), undefined],
    ['is too large once decompressed', 413, gzipSync(randomBytes(600_000)), 'gzip'],
    ['cannot be decompressed', 400, randomBytes(200_000), 'gzip'],
    ['is of another type', 415, randomBytes(200_000), 'bogus'],
  ])(
    'after a long body that %s, the connection carries the next request',
    async (_why, status, body, encoding) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const send = (method: string, headers: Record<string, string>, sent?: Buffer) =>
        new Promise<{ status: number | undefined; reused: boolean }>((resolve, reject) => {
          const all = { Authorization: `Bearer ${owner.token}`, ...headers }
          const call = httpRequest(world.baseUrl + ROBOTS, { agent, method, headers: all }, (reply) => {
            reply.resume().on('end', () => resolve({ status: reply.statusCode, reused: call.reusedSocket }))
          })
          call.on('error', reject).end(sent)
        })
      try {
        for (let round = 0; round < 3; round++) {
          const headers = { ...JSON_TYPE, ...(encoding !== undefined && { 'Content-Encoding': encoding }) }
          expect(await send('POST', headers, body)).toEqual({ status, reused: round > 0 })
          expect(await send('GET', {})).toEqual({ status: 200, reused: true })
        }
      } finally {
        agent.destroy()
      }
    },
  )

  test('deeply nested JSON is a 400', async () => {
    for (const body of ['['.repeat(60_000), `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`]) {
      expectError(await ask(ROBOTS, { method: 'POST', body, headers: JSON_TYPE }), 400)
    }
  })

  test('a missing credential is a 401 that names the scheme', async () => {
    const answer = await ask(ROBOTS, { headers: { Authorization: 'Basic eDp5' } })
    expectError(answer, 401)
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
  })
})

describe('requests below the level of routes', () => {
  test.each([
    ['gibberish', 'GIBBERISH\r\n\r\n', 400],
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n', 400],
    ['endless headers', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['an invalid target', 'GET http://[/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ])('%s gets the error body of the API', async (_what, request, status) => {
    const answer = await raw(request)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    expect(body).toEqual({ error: expect.any(String) })
    expect(answer).toContain(
      `Wheelhouse-Error: ${status === 431 ? 'headers_too_large' : 'malformed_request'}\r\n`,
    )
  })

  test('two different lengths, or a length with chunked encoding, are refused because proxies may interpret them differently', async () => {
    const host = 'POST /api/auth/sync HTTP/1.1\r\nHost: x\r\n'
    for (const headers of [
      'Content-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'Transfer-Encoding: gzip\r\n\r\nab',
    ]) {
      const answer = await raw(host + headers)
      expect(answer, headers).toMatch(/^HTTP\/1.1 400 /)
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({ error: expect.any(String) })
    }
  })

  test.each([
    [
      'a body',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a"',
    ],
    ['headers', 'POST / HTTP/1.1\r\nHost: x\r\nX-Slow: '],
  ])('%s that never end get a 408', async (_what, begun) => {
    const slow = await listen('127.0.0.1', 0, 'PORT')
    try {
      slow.serve((request) => request.resume())
      slow.server.requestTimeout = 500
      slow.server.headersTimeout = 500
      const answer = await raw(begun, '\0', slow.port)
      expect(answer).toMatch(/^HTTP\/1.1 408 /)
      expect(answer).toContain('Wheelhouse-Error: request_timeout\r\n')
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({ error: 'Request Timeout' })
    } finally {
      await slow.close(1_000)
    }
  })

  test('an offer to upgrade to HTTP/2 is declined with an ordinary response', async () => {
    const offer =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
    const answer = await raw(`GET /api/health HTTP/1.1\r\nHost: x\r\n${offer}\r\n`, '"timestamp"')
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
  })

  test.each(['/api/health', '/robots/x/control', '/socket.io'])(
    'a WebSocket handshake at %s, which has no WebSocket, gets an ordinary response',
    async (path) => {
      const offer =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\n${offer}\r\n`, '}')
      expect(answer).toMatch(path === '/api/health' ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 404 /)
    },
  )

  /** Sends bytes and reads until the server closes the connection, or until the response contains `enough`. */
  function raw(request: string, enough = '\0', port = Number(new URL(world.baseUrl).port)): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', (data) => {
        answer += data
        if (answer.includes(enough)) socket.destroy()
      })
      socket.on('error', reject).on('close', () => resolve(answer))
      socket.write(request)
    })
  }
})

describe('every response', () => {
  test('carries a unique request id, or the one the caller sent', async () => {
    const [first, two] = [await ask('/api/health'), await ask('/api/health')]
    expectCommonHeaders(first)
    expectCommonHeaders(two)
    expect(first.headers.get('X-Request-Id')).not.toBe(two.headers.get('X-Request-Id'))
    for (const path of ['/api/health', '/api/nothing', ROBOTS]) {
      const given = await ask(path, { headers: { 'X-Request-Id': 'trace.me-0001' } })
      expect(given.headers.get('X-Request-Id')).toBe('trace.me-0001')
      for (const bad of ['short', 'with space', 'a'.repeat(65), 'quote"quote']) {
        const replaced = await ask(path, { headers: { 'X-Request-Id': bad } })
        expect(replaced.headers.get('X-Request-Id')).toMatch(UUID)
      }
    }
  })

  test('is readable from the allowed origins only, errors included', async () => {
    const origin = (value: string) => ({ headers: { Origin: value } })
    for (const path of ['/api/health', '/api/nothing']) {
      const allowed = await ask(path, origin('https://console.example'))
      expect(allowed.headers.get('Access-Control-Allow-Origin')).toBe('https://console.example')
      expect(allowed.headers.get('Vary')).toContain('Origin')
      for (const other of ['https://evil.example', 'null', 'https://console.example.evil.example']) {
        const refused = await ask(path, origin(other))
        expect(refused.headers.get('Access-Control-Allow-Origin')).toBeNull()
      }
    }
    const preflight = { 'Access-Control-Request-Method': 'PATCH', Origin: 'https://console.example' }
    const asked = await ask(ROBOTS, { method: 'OPTIONS', headers: preflight })
    expect(asked.status).toBe(204)
    const list = (name: string) => asked.headers.get(name)?.split(/, ?/).sort()
    expect(list('Access-Control-Allow-Methods')).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'])
    expect(list('Access-Control-Allow-Headers')).toEqual([
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'If-Range',
      'Last-Event-ID',
      'Mcp-Method',
      'Mcp-Name',
      'Mcp-Protocol-Version',
      'Mcp-Session-Id',
      'Range',
      'Wheelhouse-Organization',
      'X-Request-Id',
    ])
    expect(asked.headers.get('Access-Control-Allow-Origin')).toBe('https://console.example')
    expect(asked.headers.get('Access-Control-Allow-Credentials')).toBe('true')
    expect(asked.headers.get('Access-Control-Max-Age')).toBe('600')
    expect(asked.headers.get('Vary')).toContain('Origin')
    const refused = await ask(ROBOTS, {
      method: 'OPTIONS',
      headers: { ...preflight, Origin: 'https://evil.example' },
    })
    expectError(refused, 405)
    expect(refused.headers.get('Access-Control-Allow-Methods')).toBeNull()
  })

  test('lets pages of allowed origins read the headers for errors, limits and retries', async () => {
    for (const path of [ROBOTS, '/api/nothing']) {
      const answer = await ask(path, { headers: { Origin: 'https://console.example' } })
      const exposed = answer.headers.get('Access-Control-Expose-Headers')?.split(',') ?? []
      expect(exposed.sort()).toEqual([
        'Accept-Ranges',
        'Content-Disposition',
        'Content-Range',
        'ETag',
        'Idempotent-Replayed',
        'Link',
        'Location',
        'RateLimit',
        'RateLimit-Policy',
        'Retry-After',
        'WWW-Authenticate',
        'Wheelhouse-Error',
        'X-Next-Cursor',
        'X-Request-Id',
        'X-Total-Count',
      ])
    }
  })

  test('to HEAD has the headers of GET and no body', async () => {
    const answer = await ask(ROBOTS, { method: 'HEAD' })
    expect(answer).toMatchObject({ status: 200, text: '' })
    expectCommonHeaders(answer)
  })
})

test('health and probes answer without a credential while the platform is healthy', async () => {
  const bare = (path: string) => fetch(world.baseUrl + path)
  const health = await bare('/api/health')
  expect(health.status).toBe(200)
  expect(health.headers.get('Cache-Control')).toBe('no-store')
  const body = await health.json()
  expect(body).toEqual({ status: 'ok', db: 'ok', timestamp: expect.stringMatching(/Z$/) })
  expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(10_000)
  expect((await bare('/livez')).status).toBe(200)
  expect((await bare('/readyz')).status).toBe(200)
})

test('no cache may store personal data or a refusal, and only the client a list, to ask whether it changed', async () => {
  const cookie = { Authorization: '', Cookie: `__session=${owner.token}` }
  const answers = await Promise.all([
    ask('/api/auth/profile', { headers: cookie }),
    ask(`${ROBOTS}/${randomUUID()}`),
    ask(ROBOTS, { headers: { Authorization: 'Bearer nonsense' } }),
    ask(ROBOTS, { method: 'PUT' }),
    ask('/api/robots/none-such'),
    ask(`/media/avatars/${'A'.repeat(32)}.webp`),
    ask('/nothing'),
    ask('/dashboard', { headers: cookie }),
  ])
  for (const { status, headers } of answers)
    expect(headers.get('Cache-Control'), `${status}`).toBe('no-store')
  for (const list of [await ask(ROBOTS), await ask('/api/notifications', { method: 'HEAD' })])
    expect(list.headers.get('Cache-Control')).toBe('private, no-cache')
})

describe('a database failure that a retry may cure is a 503 with Retry-After', () => {
  test('when the connection breaks between two statements of a transaction', async () => {
    const failed = world.platform.core.transact(async ({ db }) => {
      const [row] = (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows
      await query(world.database.url, `select pg_terminate_backend(${row?.pid}, 5000)`)
      await new Promise(setImmediate) // lets the connection report its end before the next statement
      await sql`select 1`.execute(db)
    })
    const error = toAppError(await failed.catch((cause) => cause))
    expect(error).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } })
  })

  test.each(['40P01', '40001', '57P01', '53300', '08006', '25006', 'EAI_AGAIN', 'ECONNREFUSED'])(
    'for code %s',
    (code) => {
      const cause = Object.assign(new Error('internal details'), { code })
      expect(toAppError(cause).status).toBe(503)
      expect(toAppError(cause).message).not.toContain('internal details')
    },
  )

  test.each(['23505', '42P01', 'ERR_INVALID_ARG_TYPE', '404', '503'])('but not for code %s', (code) => {
    expect(toAppError(Object.assign(new Error('no'), { code })).status).toBe(500)
  })
})
