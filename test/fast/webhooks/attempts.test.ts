import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createRequester } from '../../../src/modules/webhooks/delivery-request.ts'
import { createTargets, type Resolve } from '../../../src/modules/webhooks/target.ts'
import { createAddressPolicy } from '../../../src/modules/webhooks/target-address.ts'
import { ok, silence, startReceiver, status } from '../../support/network/webhook-receiver.ts'

const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
const never = new AbortController().signal
const message = { headers: { 'Content-Type': 'application/json' }, body: '{"type":"test"}' }
const requesterOf = (allowed: string[], resolve: Resolve, more = {}) =>
  createRequester({
    targets: createTargets({ policy: createAddressPolicy(allowed), resolve }),
    now: () => new Date(),
    limitMs: 60_000,
    ...more,
  })
/** Sends to a real receiver on this machine, regardless of the name in the URL. */
const post = (url: string, resolve: Resolve = resolvesTo('127.0.0.1'), allowed = ['127.0.0.1/32']) =>
  requesterOf(allowed, resolve).post(url, message, never)
/** Sends to a receiver that does not respond in time. */
const postSoon = (url: string) =>
  requesterOf(['127.0.0.1/32'], resolvesTo('127.0.0.1'), { limitMs: 700 }).post(url, message, never)

describe.concurrent('an attempt', () => {
  test('connects to the checked address, with the name in the Host header', async () => {
    await using receiver = await startReceiver()
    const done = await post(`http://hooks.example:${receiver.port}/x?y=1`)
    expect(done).toMatchObject({ outcome: 'delivered', status: 200, excerpt: 'thanks' })
    expect(receiver.received).toMatchObject([
      {
        path: '/x?y=1',
        body: message.body,
        headers: { host: `hooks.example:${receiver.port}`, connection: 'close' },
      },
    ])
  })

  test('resolves the name for each attempt and connects only to the checked address', async () => {
    await using receiver = await startReceiver()
    const answers = [resolvesTo('127.0.0.1'), resolvesTo('127.0.0.2'), resolvesTo('169.254.169.254')]
    let asked = 0
    const rebinding: Resolve = (name) => (answers[asked++] as Resolve)(name)
    const url = `http://rebinding.example:${receiver.port}/`
    expect(await post(url, rebinding)).toMatchObject({ outcome: 'delivered' })
    expect(asked, 'one lookup for the check, none for the connection').toBe(1)
    for (const _ of [2, 3]) {
      expect(await post(url, rebinding)).toMatchObject({
        outcome: 'refused',
        error: expect.stringContaining('public'),
      })
    }
    expect(receiver.connections).toBe(1)
  })

  test('does not follow redirects', async () => {
    await using inner = await startReceiver()
    for (const code of [301, 302, 303, 307, 308]) {
      await using receiver = await startReceiver(status(code, { Location: inner.url }))
      expect(await post(receiver.url)).toMatchObject({
        outcome: 'rejected',
        status: code,
        error: 'Redirects are not followed',
      })
    }
    expect(inner.connections).toBe(0)
  })

  test('reads only the start of a large response', async () => {
    let written = 0
    await using receiver = await startReceiver((response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written++
      }
      response.on('drain', more)
      more()
    })
    const done = await post(receiver.url)
    expect(done).toMatchObject({ outcome: 'delivered', status: 200, excerpt: 'x'.repeat(1_024) })
    expect(written).toBeLessThan(1_000)
  })

  test('removes control characters from the excerpt', async () => {
    await using receiver = await startReceiver((response) =>
      response.writeHead(500).end(Buffer.from([0, 27, 91, 0x68, 0x69, 10, 0xff, 0xd8])),
    )
    expect((await post(receiver.url)).excerpt).toBe('[hi\n\ufffd\ufffd')
  })

  test('times out for receivers that never respond or never finish', async () => {
    await using silent = await startReceiver(silence)
    expect(await postSoon(silent.url)).toMatchObject({
      outcome: 'unreachable',
      error: 'No response within 1 s',
    })
    // Sends a header byte by byte, without end.
    await using loris = await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
      const timer = setInterval(() => socket.write('x'), 20)
      socket.once('close', () => clearInterval(timer))
    })
    expect(await postSoon(loris.url)).toMatchObject({
      outcome: 'unreachable',
      error: 'No response within 1 s',
    })
    // Sends a body slowly: the status line already decides the outcome.
    await using dripping = await startReceiver((response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('.'), 20)
      response.once('close', () => clearInterval(timer))
    })
    expect(await postSoon(dripping.url)).toMatchObject({
      outcome: 'delivered',
      excerpt: expect.stringMatching(/^\.+$/),
    })
  })

  test('handles receivers that close the connection, send invalid data or use another protocol', async () => {
    await using disconnecting = await startRaw((socket) => socket.destroy())
    expect(await post(disconnecting.url)).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringContaining('closed'),
    })
    await using midway = await startRaw((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
    })
    expect(await post(midway.url)).toMatchObject({ outcome: 'delivered', excerpt: 'half' })
    await using nonsense = await startRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
    expect(await post(nonsense.url)).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringMatching(/^The request failed/),
    })
    await using upgrading = await startRaw((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    })
    expect((await post(upgrading.url)).outcome).toBe('unreachable')
    expect(await post('http://127.0.0.1:9/')).toMatchObject({ error: 'The connection was refused' })
  })

  test('stops with the process', async () => {
    await using silent = await startReceiver(silence)
    const stop = new AbortController()
    const attempt = requesterOf(['127.0.0.1/32'], resolvesTo(), {}).post(silent.url, message, stop.signal)
    await expect.poll(() => silent.received.length).toBe(1)
    stop.abort()
    expect(await attempt).toMatchObject({ outcome: 'stopped' })
  })

  test('verifies the TLS certificate for the name in the URL', async () => {
    const tls = certificateFor('hooks.example')
    await using receiver = await startReceiver(ok, tls)
    const over = (ca?: string) => requesterOf(['127.0.0.1/32'], resolvesTo('127.0.0.1'), ca ? { ca } : {})
    const url = (host: string) => `https://${host}:${receiver.port}/`
    expect(await over(tls.cert).post(url('hooks.example'), message, never)).toMatchObject({
      outcome: 'delivered',
    })
    expect(await over(tls.cert).post(url('other.example'), message, never)).toMatchObject({
      outcome: 'unreachable',
      error: 'The request failed (ERR_TLS_CERT_ALTNAME_INVALID)',
    })
    expect(await over().post(url('hooks.example'), message, never)).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringContaining('SELF_SIGNED'),
    })
    expect(receiver.received).toHaveLength(1)
  })

  test.each([
    ['120', 120_000],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['soon', undefined],
    ['-5', undefined],
    ['Fri, 20 Nov 2020 10:00:30 GMT', undefined],
  ])('parses Retry-After: %s', async (text, ms) => {
    await using receiver = await startReceiver(status(503, { 'Retry-After': text }))
    const now = () => new Date('2026-11-20T10:00:00Z')
    const done = await requesterOf(['127.0.0.1/32'], resolvesTo(), { now }).post(receiver.url, message, never)
    expect([done.outcome, done.retryAfterMs]).toEqual(['rejected', ms])
  })
})

/** Starts a TCP server that sends arbitrary bytes after the first request data. */
async function startRaw(respond: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => respond(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

function certificateFor(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'wheelhouse-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=DNS:${name}`,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
