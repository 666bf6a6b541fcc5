import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const program = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

/**
 * The names that the suite expects of a test server, and our equivalents: the suite checks the form of the responses,
 * not their content.
 */
const substitutes: Record<string, string> = {
  test_simple_text: 'get_platform_statistics',
  test_error_handling: 'get_session', // without the id that it needs
  test_simple_prompt: 'monthly_cost_review',
  test_prompt_with_arguments: 'review_session',
  arg1: 'sessionId',
  'test://static-text': 'wheelhouse://docs/readme',
}

const noContent = 'no tool returns such content: results are JSON'
const noSampling = 'the server sends no requests to the client'
const noSessions = 'the server is stateless, so a client has no stream to resume'
const noSubscriptions = 'resources have no subscriptions; clients read logs from a sequence number'
const ownTool = 'expects the schema of a test tool of the suite in tools/list'
/** Scenarios that do not apply, each with the reason. The test fails when one of them passes. */
const doesNotApply: Record<string, string> = {
  'logging-set-level': 'the server sends no log messages; the capability is not declared',
  'tools-call-image': noContent,
  'tools-call-audio': noContent,
  'tools-call-embedded-resource': noContent,
  'tools-call-mixed-content': noContent,
  'tools-call-with-logging': 'the server sends no log messages',
  'tools-call-with-progress': 'no tool runs long enough to report progress',
  'tools-call-sampling': noSampling,
  'tools-call-elicitation': noSampling,
  'elicitation-sep1034-defaults': noSampling,
  'elicitation-sep1330-enums': noSampling,
  'json-schema-2020-12': ownTool,
  'server-sse-polling': noSessions,
  'server-sse-multiple-streams': noSessions,
  'resources-read-binary': 'no resource is binary',
  'resources-templates-read': 'reads the id 123; our ids are UUIDs of existing objects',
  'resources-subscribe': noSubscriptions,
  'resources-unsubscribe': noSubscriptions,
  'prompts-get-with-args': 'sends free text to a prompt; our arguments are validated ids, months and types',
  'prompts-get-embedded-resource': 'prompts name the tools to use and embed nothing',
  'prompts-get-with-image': 'prompts are text',
}

let proxy: Server
let world: World
let url: string
let target = { port: 0, token: '' }

/** Forwards a request of the suite with a credential, and replaces the names that the suite expects. */
async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const body = Object.entries(substitutes).reduce(
    (sent, [foreign, ours]) => sent.replaceAll(`"${foreign}"`, `"${ours}"`),
    await text(asked),
  )
  const { 'content-length': _, ...headers } = asked.headers
  const onward = request({
    host: '127.0.0.1',
    port: target.port,
    path: asked.url,
    method: asked.method,
    headers: { ...headers, authorization: `Bearer ${target.token}` }, // its Host and Origin stay
  })
  onward.on('error', () => answer.destroy())
  onward.on('response', (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers)
    reply.pipe(answer)
  })
  onward.end(body)
}

beforeAll(async () => {
  proxy = createServer((asked, answer) => void forward(asked, answer))
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  const origin = `http://localhost:${(proxy.address() as AddressInfo).port}`
  world = await createWorld({ env: { CORS_ORIGINS: origin } })
  const { owner } = await openSessionFixture(world)
  target = { port: Number(new URL(world.baseUrl).port), token: owner.token }
  url = `${origin}/api/mcp`
})
afterAll(async () => {
  proxy.close()
  await world[Symbol.asyncDispose]()
})

test('the public conformance suite passes, except for the scenarios that do not apply', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-mcp-'))
  try {
    const baseline = join(folder, 'expected.yml')
    await writeFile(baseline, JSON.stringify({ server: Object.keys(doesNotApply) })) // JSON is valid YAML
    const options = ['server', '--url', url, '--suite', 'all', '--expected-failures', baseline, '-o', folder]
    const { code, logged } = await run(options)
    expect(code, logged).toBe(0)
    const passed = [...logged.matchAll(/^✓ ([\w-]+): [1-9]\d* passed/gm)].map(([, name]) => name)
    expect(passed).toEqual([
      'server-initialize',
      'ping',
      'completion-complete',
      'tools-list',
      'tools-call-simple-text',
      'tools-call-error',
      'resources-list',
      'resources-read-text',
      'prompts-list',
      'prompts-get-simple',
      'dns-rebinding-protection',
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function run(options: string[]): Promise<{ code: number | null; logged: string }> {
  const child = spawn(process.execPath, [program, ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'] as const,
    env: { ...process.env, NO_COLOR: '1' },
  })
  const ended = new Promise<number | null>((done) => child.once('close', done))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, logged: out + err }
}
