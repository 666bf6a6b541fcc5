import { McpServer } from '@modelcontextprotocol/server'
import { MAX_FRAME_DEPTH } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hideInternalErrors } from '../../../src/roles/api/mcp/mcp-server.ts'
import { ask } from '../../support/network/http-request.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let user: TestUser
beforeAll(async () => {
  world = await createWorld()
  user = await world.client()
})
afterAll(() => world[Symbol.asyncDispose]())

const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const objects = (levels: number) => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`
const shapes = [arrays, objects]
const DEPTHS = [65, 5_000, 40_000]
const internals = /call stack|RangeError|Internal error|\bat .*\.ts/i

describe('a deep body over REST', () => {
  test.each([
    ['POST', '/api/auth/profile', (deep: string) => `{"notification_preferences":${deep}}`],
    ['POST', '/api/client/robots', (deep: string) => `{"name":"x","tags":${deep}}`],
    ['POST', '/api/contact', (deep: string) => deep],
    ['POST', '/api/webhooks', (deep: string) => `{"url":${deep}}`],
    ['PATCH', `/api/sessions/${crypto.randomUUID()}`, (deep: string) => `{"action":${deep}}`],
  ])('%s %s is a 400 that says so', async (method, path, body) => {
    for (const shape of shapes) {
      for (const depth of DEPTHS) {
        const headers = method === 'POST' ? { 'Idempotency-Key': crypto.randomUUID() } : {}
        const options = { method, headers, token: user.token, body: body(shape(depth)) }
        const reply = await ask(world.baseUrl + path, options)
        expect(reply.status).toBe(400)
        expect(reply.body).toEqual({
          error: `The request body is nested deeper than ${MAX_FRAME_DEPTH} levels`,
        })
      }
    }
  })
})

describe('a deep message over MCP', () => {
  const post = (body: string) =>
    ask(`${world.baseUrl}/api/mcp`, {
      method: 'POST',
      token: user.token,
      body,
      headers: { Accept: 'application/json, text/event-stream' },
    })
  const message = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id":"mine","method":"${method}","params":${params}}`

  test.each<[string, (deep: string) => string]>([
    [
      'as arguments of a tool',
      (deep) => message('tools/call', `{"name":"get_profile","arguments":{"a":${deep}}}`),
    ],
    [
      'as a known argument',
      (deep) => message('tools/call', `{"name":"send_message","arguments":{"body":${deep}}}`),
    ],
    ['as all arguments', (deep) => message('tools/call', `{"name":"register_robot","arguments":${deep}}`)],
    ['as metadata', (deep) => message('tools/list', `{"_meta":${deep}}`)],
    ['as parameters', (deep) => message('tools/list', deep)],
    [
      'as the argument of a prompt',
      (deep) => message('prompts/get', `{"name":"review_session","arguments":{"sessionId":${deep}}}`),
    ],
    ['as the address of a resource', (deep) => message('resources/read', `{"uri":${deep}}`)],
    [
      'as capabilities',
      (deep) =>
        message(
          'initialize',
          `{"protocolVersion":"2025-06-18","capabilities":${deep},"clientInfo":{"name":"x","version":"1"}}`,
        ),
    ],
    ['as the whole message', (deep) => deep],
  ])('%s is a bad request without internal details', async (_what, body) => {
    for (const shape of shapes) {
      for (const depth of DEPTHS) {
        const reply = await post(body(shape(depth)))
        const text = JSON.stringify(reply.body)
        expect(text).not.toMatch(internals)
        expect(reply.status).toBe(400)
        expect(reply.body.error).toEqual({
          code: -32_600,
          message: `The request body is nested deeper than ${MAX_FRAME_DEPTH} levels`,
        })
      }
    }
  })

  test('an exception in the library is an internal error without its text', async () => {
    const mcp = new McpServer({ name: 'test', version: '1' }, { capabilities: { tools: {} } })
    const reported: unknown[] = []
    hideInternalErrors(mcp, (cause) => reported.push(cause))
    mcp.server.setRequestHandler('tools/list', () => {
      throw new RangeError('Maximum call stack size exceeded')
    })
    const sent: unknown[] = []
    const transport: Parameters<typeof mcp.connect>[0] = {
      start: async () => {},
      close: async () => {},
      send: async (answer) => void sent.push(answer),
    }
    await mcp.connect(transport)
    transport.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    await waitFor(() => expect(sent).toHaveLength(1))
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'Internal error' } }])
    expect(String(reported[0])).toContain('Maximum call stack size exceeded')
  })

  test('an unexpected exception is an internal error without its text, and is logged', async () => {
    const {
      sessions: { lists },
    } = world.platform
    const page = lists.page
    try {
      lists.page = () => {
        throw new RangeError('Maximum call stack size exceeded')
      }
      for (const body of [
        message('tools/call', '{"name":"list_sessions","arguments":{}}'),
        message('resources/read', '{"uri":"wheelhouse://sessions"}'),
      ]) {
        const reply = await post(body)
        expect(JSON.stringify(reply.body)).toContain('The platform failed to answer this request')
        expect(JSON.stringify(reply.body)).not.toMatch(/call stack|RangeError/)
      }
      expect(world.errors.join('\n')).toContain('Maximum call stack size exceeded')
    } finally {
      lists.page = page
      world.errors.length = 0
    }
  })
})
