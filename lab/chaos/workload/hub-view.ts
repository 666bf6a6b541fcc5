import type { SessionLogEvent } from '@wheelhouse/protocol'
import { HubClient, isFinalRefusal } from '@wheelhouse/sdk'
import { type Evidence, lineOf, type NotificationLog, type View } from '../evidence.ts'
import type { TestUser } from '../fixtures.ts'

/** Below the hub's own limit, so that a new session can always be watched. */
const MOST_WATCHED = 60
const RECONNECT = { baseMs: 50, maxMs: 1_500 }

const overTypes: ReadonlySet<string> = new Set(['session.ended', 'session.cancelled'])

/** A user at the hub: watches sessions, receives notifications, and records everything that is delivered. */
export class HubView {
  readonly client: HubClient
  readonly #user: TestUser
  readonly #evidence: Evidence
  readonly #notificationLog: NotificationLog
  readonly #watched = new Map<string, View>()
  /** Watched sessions that are still open, as far as this user knows. */
  readonly open = new Set<string>()
  /** Sessions whose end this user has seen. */
  readonly over: string[] = []
  /** Sessions with a pending extension request. */
  readonly pendingExtensions = new Set<string>()
  /** Last known status by robot. */
  readonly board = new Map<string, string>()

  constructor(parts: { user: TestUser; hubUrl: string; evidence: Evidence }) {
    const { user, hubUrl, evidence } = parts
    this.#user = user
    this.#evidence = evidence
    this.#notificationLog = { who: user.name, userId: user.id, received: 0 }
    this.client = new HubClient({
      url: hubUrl,
      token: user.apiKey,
      reconnect: RECONNECT,
      onClosed: (reason) => {
        if (!reason.message.includes('was closed'))
          evidence.violations.add(`${user.name} at the hub: ${reason.message}`)
      },
    })
  }

  /** Connects; calls `onSession` for every session that a notification names. */
  async start(onSession: (sessionId: string) => void): Promise<void> {
    this.#evidence.notificationLogs.push(this.#notificationLog)
    const unsubscribe = this.client.onNotification((notification) => {
      const number = Number(notification.id)
      if (number !== this.#notificationLog.received + 1)
        this.#evidence.violations.add(
          `${this.#user.name} received notification ${number} after ${this.#notificationLog.received}`,
        )
      this.#notificationLog.received = number
      const { session_id: sessionId } = notification.data
      if (typeof sessionId === 'string') onSession(sessionId)
    })
    await this.client.connect()
    await unsubscribe
  }

  /** Watches the robots that this user may see. */
  async watchRobots(): Promise<void> {
    await this.client.watchRobots((update) => {
      const robots = update.kind === 'list' ? update.robots : [update.robot]
      for (const { robot_id: robotId, status } of robots) this.board.set(robotId, status)
    })
  }

  /** Watches a session from its beginning; ignores a session that is or was watched. */
  watch(sessionId: string): void {
    if (this.#watched.has(sessionId)) return
    const view: View = { who: this.#user.name, sessionId, lines: [], ended: false }
    this.#watched.set(sessionId, view)
    this.#evidence.views.push(view)
    this.open.add(sessionId)
    const onReset = () => this.#evidence.violations.add(`the log of ${sessionId} was reset for ${view.who}`)
    const watching = this.client.watch(sessionId, { onEvent: (event) => this.#deliver(view, event), onReset })
    watching.catch((cause) => {
      if (isFinalRefusal(cause) && cause.name === 'HubError')
        this.#evidence.violations.add(`${view.who} was not allowed to watch ${sessionId}: ${cause.message}`)
    })
    this.#makeRoom()
  }

  #deliver(view: View, event: SessionLogEvent): void {
    const { seq, type } = event
    if (seq !== view.lines.length + 1 || view.ended)
      this.#evidence.violations.add(
        `${view.who} received entry ${seq} of ${view.sessionId} after ${view.lines.length}` +
          `${view.ended ? ', though no longer watching' : ''}`,
      )
    view.lines.push(lineOf(event))
    if (type === 'extension.requested') this.pendingExtensions.add(view.sessionId)
    if (type === 'extension.approved' || type === 'extension.declined')
      this.pendingExtensions.delete(view.sessionId)
    if (overTypes.has(type)) {
      this.open.delete(view.sessionId)
      this.pendingExtensions.delete(view.sessionId)
      this.over.push(view.sessionId)
    }
  }

  /** Stops watching the oldest of the ended sessions. */
  #makeRoom(): void {
    const watching = [...this.#watched.values()].filter((view) => !view.ended)
    const oldest = watching.find((view) => !this.open.has(view.sessionId))
    if (watching.length <= MOST_WATCHED || !oldest) return
    oldest.ended = true
    this.client.unwatch(oldest.sessionId).catch(() => {})
  }
}
