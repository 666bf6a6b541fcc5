import type { NotificationEvent, SessionAction, SessionLogEvent } from '@wheelhouse/protocol'
import { HubClient, HubError } from '@wheelhouse/sdk'
import { z } from 'zod'
import { createTcpProxy, type TcpProxy } from '../../test/support/network/tcp-proxy.ts'
import { ExpectationError, type Transcript } from './transcript.ts'

const ErrorResponse = z.object({ error: z.string() })
const NewestNotification = z.object({ notifications: z.array(z.object({ id: z.string() })) })

/** One REST request of an account. */
interface RestCall<T> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly answer: z.ZodType<T>
  /** Default: 200, and 201 for a POST. */
  readonly status?: number
  /** Returns the part of the answer that the transcript shows. */
  readonly summarize: (answer: T) => string
}

/** An account with an API key: sends REST requests and listens at the hub, over a link that can be cut. */
export interface DemoActor {
  readonly side: 'OWNER' | 'OPERATOR'
  readonly link: TcpProxy
  readonly hub: HubClient
  /** Numbers of the session's log entries, in the order of their delivery. */
  readonly receivedSeqs: readonly number[]
  /** Sends a request and logs it. @throws ExpectationError when the status differs from the expected one */
  makeRequest<T>(call: RestCall<T>): Promise<T>
  /** Connects to the hub and logs the notifications that arrive from now on. */
  connect(): Promise<void>
  /** Watches a session's log from its beginning. */
  watch(sessionId: string): void
  /** Sends a chat message over the hub; settles when it is stored and in the sender's own log. Returns its number. */
  sendChat(sessionId: string, body: string): Promise<number>
  /** Performs a session action over the hub. */
  performAction(sessionId: string, action: SessionAction, reason: string): Promise<void>
  /** Sends a clean-up request, which is not logged and ignores an interruption. */
  cleanUp(method: string, path: string, body?: object): Promise<void>
  close(): Promise<void>
}

const CLEAN_UP_LIMIT_MS = 2_000

export async function createDemoActor(
  { side, baseUrl, key }: { side: DemoActor['side']; baseUrl: string; key: string },
  transcript: Transcript,
): Promise<DemoActor> {
  const { logSent, logReceived, waitFor, expectationTimeoutMs, signal } = transcript
  const link = await createTcpProxy(baseUrl)
  const receivedSeqs: number[] = []
  const request = createRequest(baseUrl, key)
  const requestSignal = () => AbortSignal.any([signal, AbortSignal.timeout(expectationTimeoutMs)])
  const hub = new HubClient({
    url: new URL(link.url).origin,
    token: key,
    reconnect: { maxMs: 500 },
    onConnected: () => logReceived(side, 'hub connected'),
    onDisconnected: (reason) => logReceived(side, `hub disconnected: ${reason}`),
    // Attempts over a cut link fail too; only an error of the hub itself is worth a line.
    onError: (cause) => cause instanceof HubError && logReceived(side, `hub refused: ${cause.message}`),
    onClosed: ({ message }) => logReceived(side, `hub closed: ${message}`),
  })

  return {
    side,
    link,
    hub,
    receivedSeqs,
    async makeRequest(call) {
      logSent(side, `${call.method} ${call.path}${call.body ? ` ${JSON.stringify(call.body)}` : ''}`)
      const { status, content } = await request(call.method, call.path, call.body, requestSignal())
      const expectedStatus = call.status ?? (call.method === 'POST' ? 201 : 200)
      if (status !== expectedStatus) {
        const errorMessage = ErrorResponse.safeParse(content).data?.error ?? ''
        throw new ExpectationError(
          `${call.method} ${call.path} answered ${status} instead of ${expectedStatus}: ${errorMessage}`,
        )
      }
      const answer = call.answer.safeParse(content)
      if (!answer.success)
        throw new ExpectationError(
          `${call.method} ${call.path} answered with\n${z.prettifyError(answer.error)}`,
        )
      logReceived(side, `${status} ${call.summarize(answer.data)}`)
      return answer.data
    },
    async connect() {
      logSent(side, 'hub connect')
      hub.connect().catch(() => {}) // rejects when the demo ends; the wait below reports it
      await waitFor(side, 'hub connected')
      const { content } = await request('GET', '/api/notifications?limit=1', undefined, requestSignal())
      const newest = NewestNotification.parse(content).notifications[0]
      const onNotification = (notification: NotificationEvent) =>
        logReceived(side, `notification ${notification.type}`)
      void hub.onNotification(onNotification, { after: newest?.id ?? '0' })
    },
    watch(sessionId) {
      logSent(side, `hub session:watch ${sessionId}`)
      const onEvent = (event: SessionLogEvent) => {
        receivedSeqs.push(event.seq)
        logReceived(side, describe(event))
      }
      void hub.watch(sessionId, { onEvent })
    },
    async sendChat(sessionId, body) {
      logSent(side, `hub chat:send "${body}"`)
      const { seq } = await hub.sendChat(sessionId, body, undefined, { timeoutMs: expectationTimeoutMs })
      logReceived(side, `acknowledged, stored as #${seq}`)
      await waitFor(side, `log chat.message "${body}"`)
      return seq
    },
    async performAction(sessionId, action, reason) {
      logSent(side, `hub session:action ${action} "${reason}"`)
      const session = await hub.action(sessionId, action, reason)
      logReceived(side, `acknowledged, session ${session.status}`)
    },
    async cleanUp(method, path, body) {
      await request(method, path, body, AbortSignal.timeout(CLEAN_UP_LIMIT_MS))
    },
    async close() {
      hub.close()
      await link[Symbol.asyncDispose]()
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
      throw new ExpectationError(`${baseUrl} did not answer ${method} ${path}: ${reasonOf(cause)}`, { cause })
    })
    const text = await response.text()
    return { status: response.status, content: jsonOf(text) }
  }
}

/** Returns undefined for text that is not JSON: every schema rejects it. */
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

/** Describes an entry of a session's log in one line. Its number is last, because expectations match the beginning. */
function describe({ type, seq, data }: SessionLogEvent): string {
  if (type === 'chat.message') return `log chat.message "${data.body}" from ${data.sender_name}, #${seq}`
  return `log ${type} ${data.status}${data.reason ? ` (${data.reason})` : ''}, #${seq}`
}
