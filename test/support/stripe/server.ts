import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { WEBHOOK_SECRET } from './events.ts'
import { StripeBooks } from './fake-stripe-store.ts'
import { invalid, readRequest, StripeRefusal, type StripeRequest } from './wire.ts'

/**
 * The fate of one request: `fails` is answered 500 and not executed, `fails after` although it is executed; `drops` and
 * `drops after` break the connection without an answer; `executedAfter` delays the execution, `answeredAfter` the answer,
 * until a promise settles; `refuses` is answered 400 and not executed. `status` is answered immediately, as by a rate
 * limit; `answers` replaces the answer of an executed request.
 */
export type StripeFault =
  | 'fails'
  | 'fails after'
  | 'drops'
  | 'drops after'
  | 'refuses'
  | { readonly executedAfter: Promise<unknown> }
  | { readonly status: number; readonly type: string }
  | { readonly answers: string }
  | { readonly answeredAfter: Promise<unknown> }

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
 * Creates a stand-in for Stripe: a stateful server, which the platform uses through Stripe's own library. It refuses the same
 * requests as Stripe, stores answers by their idempotency keys, and injects the planned faults.
 */
export async function startStripe() {
  const books = new StripeBooks()
  const requests: StripeRequest[] = []
  const arrivals = new EventEmitter()
  const kept = new Map<string, StoredResponse>()
  let planned: Planned[] = []
  let acceptedKey = SECRET_KEY

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

  /** Repeats the answer for the same key, failures included; refuses the key with other parameters. */
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
    } else if (http.headers.authorization !== `Bearer ${acceptedKey}`) {
      answer = { status: 401, body: invalid('Invalid API Key provided').body }
    } else {
      answer = await onceByKey(request, async () => {
        if (fault === 'fails') return broken
        if (fault === 'refuses') return { status: 400, body: invalid('Not like this').body }
        if (typeof fault === 'object' && 'executedAfter' in fault) await fault.executedAfter
        const done = carryOut(request)
        if (typeof fault === 'object' && 'answeredAfter' in fault) await fault.answeredAfter
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
    /** All requests, in order. */
    requests,
    /** Environment of a platform that uses this stand-in. */
    env: {
      STRIPE_SECRET_KEY: SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE: `http://127.0.0.1:${port}`,
    },
    requestsTo: (method: string, path: RegExp) =>
      requests.filter((request) => request.method === method && path.test(request.path)),

    /** Plans a fault for the next `times` matching requests. */
    planFor(fault: StripeFault, when: (request: StripeRequest) => boolean, times: number): void {
      planned.push({ fault, times, when })
    },
    /** Plans a fault for the next `times` requests to a path (default 1), optionally of one method. */
    plan(fault: StripeFault, path: RegExp, times = 1, method?: string): void {
      const when = (request: StripeRequest) =>
        path.test(request.path) && (method === undefined || request.method === method)
      planned.push({ fault, times, when })
    },
    /** Returns whether the planned faults hold the next request to a path. */
    holds(method: string, path: string): boolean {
      const request = { method, path: path.replace(/\?.*/, ''), params: {}, idempotencyKey: undefined }
      return planned.some(
        ({ fault, when }) => typeof fault === 'object' && 'executedAfter' in fault && when(request),
      )
    },
    /** Settles when a matching path has been requested. */
    async whenRequested(path: RegExp): Promise<void> {
      const signal = AbortSignal.timeout(WAIT_LIMIT_MS)
      while (!requests.some((request) => path.test(request.path))) {
        await once(arrivals, 'request', { signal })
      }
    },
    /** Refuses connections, until it is `up` again at the same address. */
    down: close,
    up: () => listen(port),
    /** Forgets all idempotency keys, as after a day. */
    forgetKeys: () => kept.clear(),
    /** Rejects the platform's key until `recover`, as after its removal in the provider's dashboard. */
    rejectKey(): void {
      acceptedKey = 'sk_test_other'
    },
    /** Cancels all planned faults, and accepts the platform's key. */
    recover(): void {
      planned = []
      acceptedKey = SECRET_KEY
    },

    async [Symbol.asyncDispose]() {
      if (server.listening) await close()
    },
  }
}
