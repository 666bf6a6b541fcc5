import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { type Target, type TargetAddress, TargetRefused, type Targets } from './target.ts'

/** From resolving the name to the last byte that is read. */
const LIMIT_MS = 15_000
/** Read of an answer at most; what its owner is shown of it is shorter still. */
const MAX_READ_BYTES = 16 * 1024
const MAX_EXCERPT_LENGTH = 1_024

/** What came of one attempt. */
export interface Attempt {
  /**
   * `delivered`: answered with 2xx. `rejected`: with anything else. `unreachable`: no answer. `refused`: the target is
   * none any more. `stopped`: the process ended meanwhile.
   */
  readonly outcome: 'delivered' | 'rejected' | 'unreachable' | 'refused' | 'stopped'
  readonly durationMs: number
  readonly status?: number
  readonly excerpt?: string
  readonly error?: string
  /** For how long the receiver asks not to be called. */
  readonly retryAfterMs?: number
}

interface ReceiverResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly excerpt: string
}

class NoResponseError extends Error {}

export interface RequesterOptions {
  readonly targets: Targets
  /** Shorter ones are for tests. */
  readonly limitMs?: number
  /** Authorities that vouch for receivers, instead of the usual ones. */
  readonly ca?: string
  readonly now: () => Date
}

/**
 * Sends one message to one URL: to an address that was checked just before, over a connection of its own, by no proxy
 * and through no redirect. The answer is read up to a bound, in a bounded time.
 */
export function createRequester({ targets, limitMs = LIMIT_MS, ca, now }: RequesterOptions) {
  return {
    async post(
      url: string,
      message: { headers: Record<string, string>; body: string },
      stop: AbortSignal,
    ): Promise<Attempt> {
      const startedAt = performance.now()
      const done = (attempt: Omit<Attempt, 'durationMs'>): Attempt => ({
        ...attempt,
        durationMs: Math.round(performance.now() - startedAt),
      })
      try {
        const target = await targets.check(url)
        const remainingMs = Math.max(limitMs - (performance.now() - startedAt), 1)
        const { status, headers, excerpt } = await send(target, message, { remainingMs, stop, ca })
        if (status >= 200 && status < 300) return done({ outcome: 'delivered', status, excerpt })
        const error = status < 400 ? 'Redirects are not followed' : `The receiver answered ${status}`
        const retryAfterMs = [429, 503].includes(status) ? retryAfter(headers, now()) : undefined
        return done({ outcome: 'rejected', status, excerpt, error, ...(retryAfterMs && { retryAfterMs }) })
      } catch (cause) {
        if (stop.aborted) return done({ outcome: 'stopped' })
        if (cause instanceof TargetRefused)
          return done({ outcome: 'refused', error: `The URL ${cause.message}` })
        return done({ outcome: 'unreachable', error: reasonOf(cause) })
      }
    },
  }
}
export type Requester = ReturnType<typeof createRequester>

function send(
  { url, addresses }: Target,
  { headers, body }: { headers: Record<string, string>; body: string },
  { remainingMs, stop, ca }: { remainingMs: number; stop: AbortSignal; ca: string | undefined },
): Promise<ReceiverResponse> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      agent: false, // no connection of an earlier check is used again, and no proxy of the environment
      lookup: pinnedTo(addresses),
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      ...(ca !== undefined && { ca }),
    })
    let answer: { response: IncomingMessage; chunks: Buffer[]; bytes: number } | undefined
    /** With what has arrived by now. */
    const settle = (cause: Error) => {
      clearTimeout(timer)
      stop.removeEventListener('abort', onStop)
      if (answer) resolve(read(answer.response, answer.chunks))
      else reject(cause)
      request.destroy()
    }
    const timer = setTimeout(
      () => settle(new NoResponseError(`No answer within ${Math.ceil(remainingMs / 1_000)} s`)),
      remainingMs,
    )
    const onStop = () => settle(new NoResponseError('The platform was stopping'))
    stop.addEventListener('abort', onStop, { once: true })
    request.on('error', settle)
    request.on('close', () => settle(new NoResponseError('The connection was closed without an answer')))
    request.on('response', (response) => {
      const received = { response, chunks: [] as Buffer[], bytes: 0 }
      answer = received
      response.on('error', settle)
      response.on('data', (chunk: Buffer) => {
        received.chunks.push(chunk.subarray(0, MAX_READ_BYTES - received.bytes))
        received.bytes += chunk.length
        if (received.bytes >= MAX_READ_BYTES) settle(new NoResponseError('enough was read'))
      })
      response.on('end', () => settle(new NoResponseError('all was read')))
    })
    request.end(body)
  })
}

/** Answers with nothing but the addresses that were checked, whatever the name resolves to by now. */
const pinnedTo =
  (addresses: readonly TargetAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses as [TargetAddress]
    if (options.all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }

function read(response: IncomingMessage, chunks: readonly Buffer[]): ReceiverResponse {
  const text = Buffer.concat(chunks).toString('utf8')
  const printable = text.replace(/(?![\n\t])\p{Cc}/gu, '').toWellFormed()
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    excerpt: printable.slice(0, MAX_EXCERPT_LENGTH).toWellFormed(),
  }
}

/** Seconds or a date, RFC 9110; undefined when it is neither or over. */
function retryAfter({ 'retry-after': text }: IncomingHttpHeaders, now: Date): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return ms > 0 ? ms : undefined
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The connection was closed without an answer',
  ETIMEDOUT: 'The connection was not established in time',
  EHOSTUNREACH: 'The host cannot be reached',
  ENETUNREACH: 'The host cannot be reached',
}

/** In a few words; what libraries say may name addresses. */
function reasonOf(cause: unknown): string {
  if (cause instanceof NoResponseError) return cause.message
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return reasons[code] ?? `The request failed${/^\w{1,60}$/.test(code) ? ` (${code})` : ''}`
}
