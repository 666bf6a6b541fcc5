import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { WEBHOOK_SECRET } from './events.ts'
import { StripeBooks } from './fake-stripe-store.ts'
import { invalid, readRequest, StripeRefusal, type StripeRequest } from './wire.ts'

/**
 * How one request fares: `fails` is answered 500 and nothing is done, `fails after` although it is done; `drops` and
 * `drops after` break the connection without an answer; `lateMs` is a delay before it is carried out, `answeredLateMs`
 * one after that, before the answer; `refuses` is answered 400 and nothing is done. `status` is answered before anything
 * is looked at, as where too much is asked; `answers` is what arrives instead of the answer to what was done.
 */
export type StripeFault =
  | 'fails'
  | 'fails after'
  | 'drops'
  | 'drops after'
  | 'refuses'
  | { readonly lateMs: number }
  | { readonly status: number; readonly type: string }
  | { readonly answers: string }
  | { readonly answeredLateMs: number }

interface Planned {
  readonly when: (request: StripeRequest) => boolean
  readonly fault: StripeFault
  times: number
}

interface StoredResponse {
  readonly params: unknown
  readonly path: string
  answer: Promise<Answer> | undefined
  settled: boolean
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

const SECRET_KEY = 'sk_test_wheelhouse'

export type FakeStripe = Awaited<ReturnType<typeof startStripe>>

/**
 * Stripe's side: a server with a memory, which the platform speaks to through Stripe's own library. It refuses what
 * Stripe refuses, keeps answers by their idempotency keys, and fares as badly as it is told to.
 */
export async function startStripe() {
  const books = new StripeBooks()
  const requests: StripeRequest[] = []
  const arrivals = new EventEmitter()
  const kept = new Map<string, StoredResponse>()
  let planned: Planned[] = []

  function faultFor(request: StripeRequest): StripeFault | undefined {
    const plan = planned.find(({ when }) => when(request))
    if (!plan) return undefined
    if (--plan.times <= 0) planned = planned.filter((item) => item !== plan)
    return plan.fault
  }

  const carryOut = (request: StripeRequest): Answer => {
    try {
      return { status: 200, body: books.answer(request) }
    } catch (cause) {
      if (!(cause instanceof StripeRefusal)) throw cause
      return { status: cause.status, body: cause.body }
    }
  }

  /** The same key gets the same answer, failures included; with other parameters it is refused. */
  async function onceByKey(request: StripeRequest, work: () => Promise<Answer>): Promise<Answer> {
    const { idempotencyKey: key, path, params } = request
    if (request.method !== 'POST' || key === undefined) return await work()
    const known = kept.get(key)
    if (!known) {
      const fresh: StoredResponse = { params, path, answer: undefined, settled: false }
      kept.set(key, fresh)
      fresh.answer = work().finally(() => {
        fresh.settled = true
      })
      return await fresh.answer
    }
    if (known.path !== path || !isDeepStrictEqual(known.params, params)) {
      return {
        status: 400,
        body: {
          error: {
            type: 'idempotency_error',
            message: 'Keys for idempotent requests can only be used with the same parameters',
          },
        },
      }
    }
    if (!known.settled) {
      const error = { type: 'invalid_request_error', code: 'idempotency_key_in_use', message: 'in use' }
      return { status: 409, body: { error } }
    }
    return (await known.answer) as Answer
  }

  const broken: Answer = {
    status: 500,
    body: { error: { type: 'api_error', message: 'Something went wrong' } },
  }

  async function handle(http: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(http)
    requests.push(request)
    arrivals.emit('request')
    const fault = faultFor(request)
    if (fault === 'drops') return void http.socket.destroy()
    let answer: Answer
    if (typeof fault === 'object' && 'status' in fault) {
      const { status, type } = fault
      answer = { status, body: { error: { type, message: `Not with ${SECRET_KEY}` } } }
    } else if (http.headers.authorization !== `Bearer ${SECRET_KEY}`) {
      answer = { status: 401, body: invalid('Invalid API Key provided').body }
    } else {
      answer = await onceByKey(request, async () => {
        if (fault === 'fails') return broken
        if (fault === 'refuses') return { status: 400, body: invalid('Not like this').body }
        if (typeof fault === 'object' && 'lateMs' in fault) await delay(fault.lateMs)
        const done = carryOut(request)
        if (typeof fault === 'object' && 'answeredLateMs' in fault) await delay(fault.answeredLateMs)
        return fault === 'fails after' ? broken : done
      })
    }
    if (fault === 'drops after') return void http.socket.destroy()
    response.writeHead(answer.status, { 'Content-Type': 'application/json' })
    const corrupted = typeof fault === 'object' && 'answers' in fault ? fault.answers : undefined
    response.end(corrupted ?? JSON.stringify(answer.body))
  }

  const server = createServer((http, response) => {
    handle(http, response).catch((cause) => response.destroy(cause as Error))
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    books,
    /** Everything that was asked, in its order. */
    requests,
    /** Environment of a platform that uses this stand-in. */
    env: {
      STRIPE_SECRET_KEY: SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE: `http://127.0.0.1:${port}`,
    },
    asked: (method: string, path: RegExp) =>
      requests.filter((request) => request.method === method && path.test(request.path)),

    /** The next requests that fit (`times` of them) fare like this. */
    planFor(fault: StripeFault, when: (request: StripeRequest) => boolean, times: number): void {
      planned.push({ fault, times, when })
    },
    /** The next requests to such a path (`times`, one if not said; of one method, if said) fare like this. */
    plan(fault: StripeFault, path: RegExp, times = 1, method?: string): void {
      const when = (request: StripeRequest) =>
        path.test(request.path) && (method === undefined || request.method === method)
      planned.push({ fault, times, when })
    },
    /** Settles once such a path has been asked for. */
    async isAsked(path: RegExp): Promise<void> {
      const signal = AbortSignal.timeout(10_000)
      while (!requests.some((request) => path.test(request.path))) {
        await once(arrivals, 'request', { signal })
      }
    },
    /** Connections are refused, until it is `up` again, at the same address. */
    down: close,
    up: () => listen(port),
    /** More than a day has passed: no key is known any more. */
    forgetKeys: () => kept.clear(),
    /** Everything fares well again. */
    recover(): void {
      planned = []
    },

    async [Symbol.asyncDispose]() {
      if (server.listening) await close()
    },
  }
}
