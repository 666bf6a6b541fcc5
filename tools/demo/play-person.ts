import type { NotificationEvent, SessionAction, SessionLogEvent } from '@wheelhouse/protocol'
import { HubClient, HubError } from '@wheelhouse/sdk'
import { z } from 'zod'
import { type Cable, layCable } from './play-cable.ts'
import { type Transcript, Unmet } from './play-transcript.ts'

const Refusal = z.object({ error: z.string() })
const NewestNotification = z.object({ notifications: z.array(z.object({ id: z.string() })) })

/** One request of a person over REST. */
export interface RestCall<T> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly answer: z.ZodType<T>
  /** Default: 200, and 201 for a POST. */
  readonly status?: number
  /** What the person reads in the answer. */
  readonly reads: (answer: T) => string
}

/** Somebody with an API key: acts over REST and hears over the hub, on a cable that can be cut. */
export interface Person {
  readonly side: 'OWNER' | 'OPERATOR'
  readonly cable: Cable
  readonly hub: HubClient
  /** Numbers of the session's log entries, as they were delivered. */
  readonly heard: readonly number[]
  /** Makes a request and tells it. @throws Unmet when it is answered otherwise */
  ask<T>(call: RestCall<T>): Promise<T>
  /** Connects to the hub and tells the notifications that come from now on. */
  connect(): Promise<void>
  /** Watches a session's log from its beginning. */
  watch(sessionId: string): void
  /** Sends a chat message over the hub until it is stored and in the sender's own log. Returns its number. */
  chat(sessionId: string, body: string): Promise<number>
  /** Acts on a session over the hub. */
  act(sessionId: string, action: SessionAction, reason: string): Promise<void>
  /** A request to clean up, which nobody is told of and no interruption stops. */
  tidy(method: string, path: string, body?: object): Promise<void>
  leave(): Promise<void>
}

const TIDY_LIMIT_MS = 2_000

export async function createPerson(
  { side, baseUrl, key }: { side: Person['side']; baseUrl: string; key: string },
  transcript: Transcript,
): Promise<Person> {
  const { sends, sees, until, patienceMs, signal } = transcript
  const cable = await layCable(new URL(baseUrl))
  const heard: number[] = []
  const request = createRequest(baseUrl, key)
  const patience = () => AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  const hub = new HubClient({
    url: `http://127.0.0.1:${cable.port}`,
    token: key,
    reconnect: { maxMs: 500 },
    onConnected: () => sees(side, 'hub connected'),
    onDisconnected: (reason) => sees(side, `hub disconnected: ${reason}`),
    // Attempts on a cut cable fail too; only what the hub itself refuses is news.
    onError: (cause) => cause instanceof HubError && sees(side, `hub refused: ${cause.message}`),
    onClosed: ({ message }) => sees(side, `hub closed: ${message}`),
  })

  return {
    side,
    cable,
    hub,
    heard,
    async ask(call) {
      sends(side, `${call.method} ${call.path}${call.body ? ` ${JSON.stringify(call.body)}` : ''}`)
      const { status, content } = await request(call.method, call.path, call.body, patience())
      const wanted = call.status ?? (call.method === 'POST' ? 201 : 200)
      if (status !== wanted) {
        const said = Refusal.safeParse(content).data?.error ?? ''
        throw new Unmet(`${call.method} ${call.path} answered ${status} instead of ${wanted}: ${said}`)
      }
      const answer = call.answer.safeParse(content)
      if (!answer.success)
        throw new Unmet(`${call.method} ${call.path} answered with\n${z.prettifyError(answer.error)}`)
      sees(side, `${status} ${call.reads(answer.data)}`)
      return answer.data
    },
    async connect() {
      sends(side, 'hub connect')
      hub.connect().catch(() => {}) // of a demo that ends meanwhile; what waits below says why
      await until(side, 'hub connected')
      const { content } = await request('GET', '/api/notifications?limit=1', undefined, patience())
      const newest = NewestNotification.parse(content).notifications[0]
      const tell = (one: NotificationEvent) => sees(side, `notification ${one.type}`)
      void hub.onNotification(tell, { after: newest?.id ?? '0' })
    },
    watch(sessionId) {
      sends(side, `hub session:watch ${sessionId}`)
      const onEvent = (event: SessionLogEvent) => {
        heard.push(event.seq)
        sees(side, describe(event))
      }
      void hub.watch(sessionId, { onEvent })
    },
    async chat(sessionId, body) {
      sends(side, `hub chat:send "${body}"`)
      const { seq } = await hub.sendChat(sessionId, body, undefined, { timeoutMs: patienceMs })
      sees(side, `acknowledged, stored as #${seq}`)
      await until(side, `log chat.message "${body}"`)
      return seq
    },
    async act(sessionId, action, reason) {
      sends(side, `hub session:action ${action} "${reason}"`)
      const session = await hub.action(sessionId, action, reason)
      sees(side, `acknowledged, session ${session.status}`)
    },
    async tidy(method, path, body) {
      await request(method, path, body, AbortSignal.timeout(TIDY_LIMIT_MS))
    },
    async leave() {
      hub.close()
      await cable.close()
    },
  }
}

function createRequest(baseUrl: string, key: string) {
  return async (method: string, path: string, body: object | undefined, signal: AbortSignal) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    }).catch((cause: unknown) => {
      throw new Unmet(`${baseUrl} did not answer ${method} ${path}: ${reasonOf(cause)}`, { cause })
    })
    const text = await response.text()
    return { status: response.status, content: jsonOf(text) }
  }
}

/** Undefined for what is no JSON: nothing of the platform answers so, and no schema takes it. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause
  return inner instanceof Error ? ('code' in inner && String(inner.code)) || inner.message : String(inner)
}

/** An entry of a session's log in one line. Its number comes last: what the story waits for is the rest. */
function describe({ type, seq, data }: SessionLogEvent): string {
  if (type === 'chat.message') return `log chat.message "${data.body}" from ${data.sender_name}, #${seq}`
  return `log ${type} ${data.status}${data.reason ? ` (${data.reason})` : ''}, #${seq}`
}
