import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pinnedTo } from './pinned-lookup.ts'
import { type Target, TargetRefused, type Targets } from './target.ts'

/** Time limit of an attempt, from the name resolution to the last byte. */
const LIMIT_MS = 15_000
/** Maximum number of bytes that are read of a response. The excerpt for the owner is shorter. */
const MAX_READ_BYTES = 16 * 1024
/** Longest excerpt of a response that is stored, in characters. */
const MAX_EXCERPT_LENGTH = 1_024

/** The result of an attempt. */
export interface DeliveryOutcome {
  /**
   * `delivered`: a 2xx response. `rejected`: another response. `unreachable`: no response. `refused`: the platform does
   * not allow the target. `stopped`: the process stopped during the attempt.
   */
  readonly outcome: 'delivered' | 'rejected' | 'unreachable' | 'refused' | 'stopped'
  readonly durationMs: number
  readonly status?: number
  readonly excerpt?: string
  readonly error?: string
  /** The delay that the receiver requested with Retry-After. */
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
  /** Time limit of an attempt; tests use shorter ones. */
  readonly limitMs?: number
  /** Certificate authorities that replace the system's. */
  readonly ca?: string
  readonly now: () => Date
}

/**
 * Creates a client that posts messages to webhooks. It connects only to an address that it has just checked, on a new
 * connection, without a proxy, and follows no redirects. It limits the time and the size of a response.
 */
export function createRequester({ targets, limitMs = LIMIT_MS, ca, now }: RequesterOptions) {
  return {
    async post(
      url: string,
      message: { headers: Record<string, string>; body: string | Uint8Array },
      stop: AbortSignal,
    ): Promise<DeliveryOutcome> {
      const startedAt = performance.now()
      const done = (attempt: Omit<DeliveryOutcome, 'durationMs'>): DeliveryOutcome => ({
        ...attempt,
        durationMs: Math.round(performance.now() - startedAt),
      })
      try {
        const target = await targets.check(url)
        const remainingMs = Math.max(limitMs - (performance.now() - startedAt), 1)
        const { status, headers, excerpt } = await send(target, message, { remainingMs, stop, ca })
        if (status >= 200 && status < 300) return done({ outcome: 'delivered', status, excerpt })
        const error = status < 400 ? 'Redirects are not followed' : `The receiver returned status ${status}`
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
  { headers, body }: { headers: Record<string, string>; body: string | Uint8Array },
  { remainingMs, stop, ca }: { remainingMs: number; stop: AbortSignal; ca: string | undefined },
): Promise<ReceiverResponse> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      agent: false, // reuses no connection of an earlier check and no proxy of the environment
      lookup: pinnedTo(addresses),
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      ...(ca !== undefined && { ca }),
    })
    let received: { response: IncomingMessage; chunks: Buffer[]; bytes: number } | undefined
    /** Settles with the data received so far. */
    const settle = (cause: Error) => {
      clearTimeout(timer)
      stop.removeEventListener('abort', onStop)
      if (received) resolve(read(received.response, received.chunks))
      else reject(cause)
      request.destroy()
    }
    const timer = setTimeout(
      () => settle(new NoResponseError(`No response within ${Math.ceil(remainingMs / 1_000)} s`)),
      remainingMs,
    )
    const onStop = () => settle(new NoResponseError('The platform was stopping'))
    stop.addEventListener('abort', onStop, { once: true })
    request.on('error', settle)
    request.on('close', () => settle(new NoResponseError('The connection was closed without a response')))
    request.on('response', (response) => {
      const current = { response, chunks: [] as Buffer[], bytes: 0 }
      received = current
      response.on('error', settle)
      response.on('data', (chunk: Buffer) => {
        current.chunks.push(chunk.subarray(0, MAX_READ_BYTES - current.bytes))
        current.bytes += chunk.length
        if (current.bytes >= MAX_READ_BYTES) settle(new NoResponseError('The response is complete'))
      })
      response.on('end', () => settle(new NoResponseError('The response is complete')))
    })
    request.end(body)
  })
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

/** Parses Retry-After (RFC 9110: seconds or a date). Returns undefined if it is not valid or in the past. */
function retryAfter({ 'retry-after': text }: IncomingHttpHeaders, now: Date): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return ms > 0 ? ms : undefined
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The connection was closed without a response',
  ETIMEDOUT: 'The connection was not established in time',
  EHOSTUNREACH: 'The host cannot be reached',
  ENETUNREACH: 'The host cannot be reached',
}

/** Returns a short reason. It omits the messages of libraries, which can contain internal addresses. */
function reasonOf(cause: unknown): string {
  if (cause instanceof NoResponseError) return cause.message
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return reasons[code] ?? `The request failed${/^\w{1,60}$/.test(code) ? ` (${code})` : ''}`
}
