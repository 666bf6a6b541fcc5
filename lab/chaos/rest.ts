import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Evidence, Outcome } from './evidence.ts'
import type { Random } from './random.ts'

const REQUEST_LIMIT_MS = 15_000
const HANG_UP_SHARE = 0.1
const RETRY_MS = 400
const SHOWN_CHARACTERS = 300

interface Reply {
  /** `unknown`: it may have been executed. `kept`: it was executed, and its answer is lost. */
  readonly outcome: Outcome | 'kept'
  readonly status: number
  /** False for a refusal after an attempt with unknown outcome, which may still be executed. */
  readonly settled: boolean
  readonly body: Record<string, unknown>
  /** The `Wheelhouse-Error` header; empty without one. */
  readonly code: string
}

export interface Rest {
  /** Sends a request once. */
  ask(performAction: string, method: string, path: string, body?: object): Promise<Reply>
  /** Sends a POST with an idempotency key, and repeats it until the outcome is known or `timeoutMs` have passed. */
  post(performAction: string, path: string, body: object, timeoutMs?: number): Promise<Reply>
}

/** Returns request timeouts of actors; the shorter ones end before the answer can arrive, and the actor retries. */
export const randomTimeout = (random: Random) => () =>
  random.chance(HANG_UP_SHARE) ? random.between(1, 40) : REQUEST_LIMIT_MS

/** Sends REST requests of one user, and records unexcused answers; `limitMs` is the timeout of the first attempt. */
export function createRest(parts: {
  baseUrl: string
  apiKey: string
  evidence: Evidence
  limitMs: () => number
}): Rest {
  const { baseUrl, apiKey, evidence } = parts

  async function once(
    method: string,
    path: string,
    body?: object,
    key?: string,
    limitMs = REQUEST_LIMIT_MS,
  ): Promise<Reply> {
    try {
      const answer = await fetch(new URL(path, baseUrl), {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(Math.round(limitMs)),
      })
      const text = await answer.text()
      return judge(answer, text, `${method} ${path.replace(/[0-9a-f-]{36}/g, '…')}`)
    } catch {
      return { outcome: 'unknown', status: 0, settled: false, body: {}, code: '' }
    }
  }

  function judge({ status, headers }: Response, text: string, what: string): Reply {
    const body = fieldsOf(text)
    const code = headers.get('Wheelhouse-Error') ?? ''
    const strange = (why: string) =>
      evidence.violations.add(`${what} answered ${status}, ${why}: ${text.slice(0, SHOWN_CHARACTERS)}`)
    const reply = (outcome: Reply['outcome']): Reply => ({
      outcome,
      status,
      settled: outcome !== 'unknown',
      body: body ?? {},
      code,
    })
    if (status >= 200 && status < 300) {
      if (body) return reply('acknowledged')
      strange('which is not JSON')
      return reply('unknown')
    }
    // The proxy's own answers, while no node is ready, are excused.
    if (status === 502 || status === 503 || status === 504 || status === 408) return reply('unknown')
    if (status >= 500) strange('which no fault excuses')
    else if (code === '' || typeof body?.error !== 'string') strange('without an error code and text')
    if (code === 'idempotency_response_lost') return reply('kept')
    if (status === 429 || code === 'idempotency_key_in_use') return reply('unknown')
    return reply(status >= 500 ? 'unknown' : 'refused')
  }

  const counted = (performAction: string, reply: Reply): Reply => {
    evidence.count(performAction, reply.outcome === 'kept' ? 'acknowledged' : reply.outcome)
    return reply
  }

  return {
    ask: async (performAction, method, path, body) => counted(performAction, await once(method, path, body)),
    async post(performAction, path, body, timeoutMs = 30_000) {
      const key = randomUUID()
      const untilMs = performance.now() + timeoutMs
      let doubtful = false
      for (let limitMs = parts.limitMs(); ; limitMs = REQUEST_LIMIT_MS) {
        const reply = await once('POST', path, body, key, limitMs)
        const settled = reply.settled && !(reply.outcome === 'refused' && doubtful)
        if (reply.outcome !== 'unknown' || performance.now() > untilMs)
          return counted(performAction, { ...reply, settled })
        doubtful = true
        await delay(RETRY_MS)
      }
    },
  }
}

/** Returns the fields of a JSON object; undefined for anything else. */
function fieldsOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
