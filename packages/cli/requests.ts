import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Identity } from './credentials/identity.ts'
import { Failure } from './failure.ts'
import { version } from './version.ts'

/** Longest time to the headers of a response. Downloads send their headers at once. */
const ANSWER_LIMIT_MS = 30_000
const RETRY_DELAY_MS = 500

/** Whether a response that redirects is an error, or is returned to the caller, who follows it. */
type Redirects = 'refused' | 'returned'

/** Sends requests to the platform, and checks that the response is from a platform. */
export function createRequests({ server, signal }: { server: string; signal: AbortSignal }) {
  /** Sends a request and follows no redirect. Ends with the command, and without headers of a response in time. */
  async function fetchOnce(request: Request, token?: string): Promise<Response> {
    const headers = new Headers(request.headers)
    headers.set('User-Agent', `wheelhouse/${version}`)
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
    const limit = new AbortController()
    const timer = setTimeout(
      () => limit.abort(new DOMException('no answer in time', 'TimeoutError')),
      ANSWER_LIMIT_MS,
    )
    try {
      const combinedSignal = AbortSignal.any([signal, request.signal, limit.signal])
      // Following a redirect would turn a POST into a GET and lose the credential.
      return await fetch(new Request(request, { headers, redirect: 'manual', signal: combinedSignal }))
    } finally {
      clearTimeout(timer)
    }
  }

  async function send(request: Request, token?: string, redirects: Redirects = 'refused'): Promise<Response> {
    const response = await fetchOnce(request, token)
    checkPlatform(response, server, redirects)
    return response
  }

  /**
   * Repeats a request once when the connection breaks, as during a restart of the platform. A POST has an
   * `Idempotency-Key`, so that the platform executes it once.
   */
  async function sendWithRetry(request: Request, token: string, redirects: Redirects): Promise<Response> {
    const repeatable = request.method === 'GET' || request.method === 'POST'
    if (request.method === 'POST') request.headers.set('Idempotency-Key', randomUUID())
    const retryRequest = repeatable ? request.clone() : undefined
    try {
      return await send(request, token, redirects)
    } catch (cause) {
      if (retryRequest === undefined || !isConnectionLost(cause) || signal.aborted) throw cause
      await delay(RETRY_DELAY_MS, undefined, { signal })
      return await send(retryRequest, token, redirects)
    }
  }

  return {
    fetchOnce,
    send,
    /** Sends a request with a credential. Renews a refused session token once: this machine's clock may be wrong. */
    async sendAs(identity: Identity, request: Request, redirects: Redirects = 'refused'): Promise<Response> {
      const token = await identity.token()
      const retryRequest = request.clone()
      const response = await sendWithRetry(request, token, redirects)
      if (response.status !== 401) return response
      const renewedToken = await identity.renewed(token)
      if (renewedToken === undefined) return response
      await response.body?.cancel()
      return await sendWithRetry(retryRequest, renewedToken, redirects)
    },
  }
}
export type Requests = ReturnType<typeof createRequests>

/** Returns whether a response redirects to another address. */
export const isRedirect = ({ status }: Response) => status >= 300 && status < 400 && status !== 304

/** Returns whether the connection broke, so that the request may have arrived without its response. */
function isConnectionLost(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if ('code' in error && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(error.code))) return true
  }
  return false
}

/** @throws Failure when the response is not from a platform */
function checkPlatform(response: Response, server: string, redirects: Redirects): void {
  const { status, headers } = response
  if (isRedirect(response)) {
    if (redirects === 'returned') return
    const to = headers.get('Location')
    const target = to === null ? 'elsewhere' : (URL.parse(to, server)?.origin ?? 'elsewhere')
    const next = 'If that is the platform, set its address with --server.'
    throw new Failure('unreachable', `${server} redirects to ${target}. ${next}`)
  }
  if (!/^text\/html/i.test(headers.get('Content-Type') ?? '')) return
  if (status >= 500) {
    throw new Failure(
      'unreachable',
      `${server} answers ${status} with a web page. Check that the platform behind it runs.`,
    )
  }
  const next = 'Set the address of the platform with --server or WHEELHOUSE_URL.'
  throw new Failure('unreachable', `${server} answers with a web page and is not a platform. ${next}`)
}
