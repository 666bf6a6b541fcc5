import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  readonly event: any
  readonly atMs: number
}
/** How a receiver answers. */
export type Answer = (response: ServerResponse, received: Received) => unknown

export const ok: Answer = (response) =>
  response.writeHead(200, { 'Content-Type': 'text/plain' }).end('thanks')
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end(`answered ${code}`)
/** Never answers. */
export const silence: Answer = () => {}

/** Creates a customer's server on this machine, which receives webhooks. */
export async function startReceiver(answer: Answer = ok, tls?: { key: string; cert: string }) {
  const received: Received[] = []
  let connections = 0
  const state = { answer, underWay: 0, mostUnderWay: 0 }
  const listener: Parameters<typeof createServer>[1] = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const item: Received = {
      path: request.url ?? '',
      headers: request.headers,
      body,
      atMs: performance.now(),
      event: JSON.parse(body),
    }
    received.push(item)
    state.underWay++
    state.mostUnderWay = Math.max(state.mostUnderWay, state.underWay)
    response.once('close', () => {
      state.underWay--
    })
    state.answer(response, item)
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    received,
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    get connections() {
      return connections
    },
    get mostUnderWay() {
      return state.mostUnderWay
    },
    answerWith(next: Answer) {
      state.answer = next
    },
    types: () => received.map(({ event }) => event.type as string),
    ids: () => received.map(({ headers }) => headers['webhook-id'] as string),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Verifies the signature as a receiver does, with the public library; throws when it is invalid. */
export function verify(secret: string, { body, headers }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}
