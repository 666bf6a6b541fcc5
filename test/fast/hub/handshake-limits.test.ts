import type { IncomingMessage } from 'node:http'
import { io } from 'socket.io-client'
import { afterEach, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { requestNetwork } from '../../../src/core/http/client-address.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const LIMIT = 5
const limited = {
  env: { RATE_LIMIT_PUBLIC_PER_MINUTE: String(LIMIT), TRUST_PROXY: '1', ALLOW_INSECURE_DEV: 'true' },
}

const open: WebSocket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.terminate()
})

const addressOf = (world: World) =>
  `${world.hubUrl.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`

/** Connects without a credential; returns the socket, or the error of a refusal. */
function handshake(world: World, from = '192.0.2.1'): Promise<WebSocket | string> {
  const socket = new WebSocket(addressOf(world), { headers: { 'X-Forwarded-For': from } })
  open.push(socket)
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('open', () => resolve(socket))
    socket.on('unexpected-response', async (_request, response) => {
      let body = ''
      for await (const chunk of response) body += chunk
      resolve(body)
    })
  })
}

/** Connects with a token; returns the error of a refusal, or undefined. */
async function signIn(world: World, token: string, from = '192.0.2.1'): Promise<string | undefined> {
  const socket = io(world.hubUrl, {
    auth: { token },
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    extraHeaders: { 'X-Forwarded-For': from },
  })
  try {
    return await new Promise((resolve) => {
      socket.on('connect', () => resolve(undefined))
      socket.on('connect_error', ({ message }) => resolve(message))
    })
  } finally {
    socket.close()
  }
}

async function metric(world: World, name: string): Promise<number> {
  const page = await (await fetch(`${world.hubUrl}/metrics`)).text()
  return Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`wheelhouse_${name} `))
      ?.split(' ')[1] ?? 0,
  )
}

describe('connections without a credential', () => {
  test('do not count as sockets, and are refused beyond the limit of their network', async () => {
    await using world = await createWorld(limited)
    for (let n = 0; n < LIMIT; n++) expect(await handshake(world)).toBeInstanceOf(WebSocket)
    expect(await metric(world, 'hub_sockets')).toBe(0)
    expect(await metric(world, 'hub_handshakes_pending')).toBe(LIMIT)
    expect(await handshake(world)).toContain('Too many connections without a valid credential')
    expect(await metric(world, 'hub_auth_failures_total{reason="rate_limited"}')).toBe(1)
    expect(await handshake(world, '192.0.2.2'), 'from another network').toBeInstanceOf(WebSocket)
    for (const socket of open.splice(0)) socket.terminate()
    await waitFor(async () => expect(await metric(world, 'hub_handshakes_pending')).toBe(0))
  })

  test('do not count once their credential is valid', async () => {
    await using world = await createWorld(limited)
    const user = await world.client()
    for (let n = 0; n < 4 * LIMIT; n++) expect(await signIn(world, user.token)).toBeUndefined()
    expect(await handshake(world)).toBeInstanceOf(WebSocket)
  })
})

test('a connection that leaves its namespace is closed', async () => {
  await using world = await createWorld(limited)
  const user = await world.client()
  const socket = (await handshake(world)) as WebSocket
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('message', (data) => {
    if (String(data).startsWith('40')) socket.send('41') // admitted: leave
  })
  socket.send(`40${JSON.stringify({ token: user.token })}`)
  await closed
  await waitFor(async () => expect(await metric(world, 'hub_handshakes_pending')).toBe(0))
})

test('an address before a million blanks in a header is parsed in linear time', () => {
  const blanks = { headers: { 'x-forwarded-for': `192.0.2.9${' '.repeat(1_000_000)}b` }, socket: {} }
  // A regular expression that skips blanks would exceed the timeout of the test.
  expect(requestNetwork(blanks as unknown as IncomingMessage, 1)).toBe('unknown')
})

describe('credentials that are refused', () => {
  test('are counted by reason and limited for each network', async () => {
    await using world = await createWorld(limited)
    const user = await world.client()
    expect(await signIn(world, '')).toContain('A token is required')
    expect(await signIn(world, 'svc_live_nonsense')).toContain('API key is not valid')
    for (let n = 2; n < LIMIT; n++) expect(await signIn(world, 'nonsense')).toContain('not valid')
    await waitFor(async () => expect(await signIn(world, 'nonsense')).toBe('websocket error'))
    const reasons = ['missing', 'invalid_api_key', 'invalid_session'].map(
      (reason) => `hub_auth_failures_total{reason="${reason}"}`,
    )
    expect(await Promise.all(reasons.map((name) => metric(world, name)))).toEqual([1, 1, LIMIT - 2])
    expect(await signIn(world, user.token, '192.0.2.2'), 'from another network').toBeUndefined()
  })

  test('are limited on one connection too', async () => {
    await using world = await createWorld(limited)
    const socket = (await handshake(world)) as WebSocket
    const answers: string[] = []
    socket.on('message', (data) => answers.push(String(data)))
    const closed = new Promise((resolve) => socket.on('close', resolve))
    for (let n = 0; n < 3 * LIMIT; n++) socket.send(`40${JSON.stringify({ token: `svc_live_${n}` })}`)
    const refusals = () => answers.filter((answer) => answer.startsWith('44'))
    await waitFor(() => expect(refusals()).toHaveLength(3 * LIMIT))
    expect(refusals().filter((answer) => answer.includes('API key is not valid'))).toHaveLength(LIMIT)
    expect(refusals().filter((answer) => answer.includes('"status":429'))).toHaveLength(2 * LIMIT)
    await closed
    expect(await metric(world, 'hub_auth_failures_total{reason="invalid_api_key"}')).toBe(LIMIT)
  })
})

test('clients of an older protocol get 400 with the code 5, by WebSocket and by polling', async () => {
  await using world = await createWorld({ bus: 'redis' })
  const unsupported = { code: 5, message: 'Unsupported protocol version' }
  for (const query of ['EIO=3&transport=polling', 'transport=polling']) {
    const reply = await fetch(`${world.hubUrl}/socket.io/?${query}`)
    expect([reply.status, await reply.json()]).toEqual([400, unsupported])
  }
  const socket = new WebSocket(addressOf(world).replace('EIO=4', 'EIO=3'))
  const [status, body] = await new Promise<[number | undefined, string]>((resolve, reject) => {
    socket.on('open', () => reject(new Error('open')))
    socket.on('error', reject)
    socket.on('unexpected-response', async (_request, response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve([response.statusCode, text])
    })
  })
  expect([status, JSON.parse(body)]).toEqual([400, unsupported])
})
