import { answerOf, type RetryOptions, retrying } from '@wheelhouse/sdk'
import { Failure } from './failure.ts'
import type { Identity } from './identity.ts'
import { version } from './version.ts'

/** Longest time to the headers of a response. Downloads send their headers at once. */
const ANSWER_LIMIT_MS = 30_000

/**
 * Repeats a request once when the connection breaks, as during a restart of the platform. Other failures appear at once:
 * the user, or a command that continues by itself, decides.
 */
const RETRY: RetryOptions = {
  attempts: 2,
  baseMs: 500,
  // Without jitter: the platform needs the time to start.
  random: () => 1,
  when: (failure) => !(failure instanceof Response) && isConnectionLost(failure.cause),
}

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

  const sendWithRetry = (request: Request, token: string, redirects: Redirects): Promise<Response> =>
    retrying(
      (attempt) => send(attempt, token, redirects),
      RETRY,
    )(new Request(request, { signal: AbortSignal.any([signal, request.signal]) }))

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
type Requests = ReturnType<typeof createRequests>

/** Returns whether a response redirects to another address. */
const isRedirect = ({ status }: Response) => status >= 300 && status < 400 && status !== 304

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

const MAX_REDIRECTS = 3

/**
 * Requests a file at a path of the platform, with more headers. Follows a redirect to the storage.
 * @returns a successful response @throws ApiError, Failure
 */
export type FetchFile = (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>

/** Creates a function that requests files. Only the platform gets the credential: the address of a redirect contains its own. */
export function createFileRequests(deps: {
  readonly server: string
  readonly identity: Identity
  readonly requests: Pick<Requests, 'fetchOnce' | 'sendAs'>
}): FetchFile {
  const { server, identity, requests } = deps

  async function fromStorage(
    address: string | null,
    from: string,
    headers: Readonly<Record<string, string>>,
    hops = 1,
  ) {
    const target = URL.parse(address ?? '', from)
    if (!target || !/^https?:$/.test(target.protocol) || hops > MAX_REDIRECTS)
      throw new Failure('refused', `${server} redirects the download to an address that cannot be used.`)
    const response = await requests.fetchOnce(new Request(target, { headers }))
    if (isRedirect(response)) {
      await response.body?.cancel()
      return await fromStorage(response.headers.get('Location'), target.href, headers, hops + 1)
    }
    if (response.ok) return response
    await response.body?.cancel()
    const { status } = response
    // The platform issues another address for the next attempt.
    const outcome = status >= 500 || status === 403 || status === 429 ? 'unreachable' : 'refused'
    throw new Failure(outcome, `The storage of the platform (${target.origin}) answered ${status}.`)
  }

  return async (path, more = {}) => {
    const url = new URL(path, server)
    if (url.origin !== server)
      throw new Failure(
        'refused',
        `${server} names a file at ${url.origin}, which does not get the credential.`,
      )
    // A compressed response has no ranges.
    const headers = { 'Accept-Encoding': 'identity', ...more }
    const response = await requests.sendAs(identity, new Request(url, { headers }), 'returned')
    if (isRedirect(response)) {
      await response.body?.cancel()
      return await fromStorage(response.headers.get('Location'), url.href, headers)
    }
    const error: unknown = response.ok ? undefined : await response.json().catch(() => undefined)
    return await answerOf(Promise.resolve({ data: response, error, response }))
  }
}
