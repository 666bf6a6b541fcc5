/** Address of a session's gateway, and a ticket that admits one connection within a minute. */
export interface SessionTicket {
  /** `wss://…` address of the session at its gateway. */
  readonly url: string
  readonly ticket: string
}

/** Returns a fresh ticket. Called before every connection. */
export type GetTicket = () => Promise<SessionTicket>

/** The platform refused a ticket. */
export class TicketRefusedError extends Error {
  override readonly name = 'TicketRefusedError'
  /** HTTP status of the refusal: 401, 403, 404, 409, 429, 5xx … */
  readonly status: number
  /** Another request would fail too, so the link ends. */
  readonly final: boolean
  /** Delay before the next request that the platform asks for; 0 without one. */
  readonly retryAfterMs: number

  constructor(
    status: number,
    message: string,
    { final = false, retryAfterMs = 0 }: { final?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message)
    this.status = status
    this.final = final
    this.retryAfterMs = retryAfterMs
  }
}

/** Account, session and part of the tickets. */
export interface TicketsOfOptions {
  /** Origin of the platform's REST API, such as `https://hub.example`. */
  readonly baseUrl: string
  /** A session token or API key, or a function that returns a fresh one before every request. */
  readonly token: string | (() => Promise<string>)
  readonly sessionId: string
  /** `control` for the operator, `watch` for an observer. Both can request a stop. */
  readonly part: 'control' | 'watch'
}

/** How long the request for a ticket may take. */
const REQUEST_TIMEOUT_MS = 10_000
/** Longest pause that a Retry-After of the platform may request. */
const MAX_RETRY_AFTER_MS = 60_000
/** Statuses of transient refusals: timeout, robot offline, too early, too many requests. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 429])
const OPEN_STATUSES: ReadonlySet<unknown> = new Set(['ACTIVE', 'PAUSED'])

/** Creates a function that requests tickets for one part of one session from the REST API. */
export function ticketsOf({ baseUrl, token, sessionId, part }: TicketsOfOptions): GetTicket {
  const session = new URL(`/api/sessions/${encodeURIComponent(sessionId)}`, baseUrl)

  async function request(method: 'GET' | 'POST', url: string, body?: object): Promise<Response> {
    const credential = typeof token === 'string' ? token : await token()
    return fetch(url, {
      method,
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
  }

  /** Returns whether the session is open. A conflict means either an offline robot or a session that is over. */
  async function isOpen(): Promise<boolean> {
    const answer = await request('GET', session.href)
    if (!answer.ok) return true
    const { status } = await fieldsOf(answer)
    return status === undefined || OPEN_STATUSES.has(status)
  }

  return async () => {
    const answer = await request('POST', `${session.href}/ticket`, { part })
    const { url, ticket, error } = await fieldsOf(answer)
    const { status } = answer
    if (!answer.ok) {
      const transient =
        status >= 500 || (TRANSIENT_STATUSES.has(status) && (status !== 409 || (await isOpen())))
      const message = typeof error === 'string' ? error : `the ticket was refused with ${status}`
      throw new TicketRefusedError(status, message, { final: !transient, retryAfterMs: retryAfterMs(answer) })
    }
    if (typeof url !== 'string' || typeof ticket !== 'string') throw new Error('malformed ticket')
    return { url, ticket }
  }
}

async function fieldsOf(answer: Response): Promise<Record<string, unknown>> {
  const body: unknown = await answer.json().catch(() => null)
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

function retryAfterMs(answer: Response): number {
  const seconds = Number(answer.headers.get('retry-after') ?? 0)
  return seconds > 0 ? Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) : 0
}
