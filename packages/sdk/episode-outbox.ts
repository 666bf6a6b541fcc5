import { Episode, type ErrorFrame } from '@wheelhouse/protocol'
import { EpisodeRefusedError } from './errors.ts'

/** A robot's report of a recording; see the `episode` frame of the protocol. Times are Unix milliseconds. */
export type EpisodeReport = Pick<
  Episode,
  'episode_id' | 'started_at' | 'ended_at' | 'size_bytes' | 'success' | 'uri' | 'task'
>

/** Largest number of unacknowledged episodes in memory. */
const MAX_ENTRIES = 1_000
/** Largest number of sent episodes without an answer. The gateway accepts 100 of one robot at a time. */
const MAX_UNANSWERED = 32
/** Without an answer on an open connection, the outbox repeats an episode after this time. */
const ANSWER_TIMEOUT_MS = 15_000

interface OutboxEntry {
  readonly frame: Episode
  readonly answer: PromiseWithResolvers<void>
  /** Sent on this connection, without an answer yet. */
  sent: boolean
  /** Earliest time to send the episode, or to repeat it. */
  dueMs: number
}

/** Sends each episode until the platform acknowledges it. The platform detects repetitions by `episode_id`. */
export class EpisodeOutbox {
  readonly #entries = new Map<string, OutboxEntry>()
  readonly #transmit: (frame: Episode) => boolean
  readonly #report: (cause: unknown) => void
  readonly #nowMs: () => number
  #unanswered = 0
  #closed: Error | undefined

  /** @param options.transmit returns whether the socket accepted the frame; `nowMs` is any monotonic clock */
  constructor(options: {
    transmit: (frame: Episode) => boolean
    report: (cause: unknown) => void
    nowMs: () => number
  }) {
    this.#transmit = options.transmit
    this.#report = options.report
    this.#nowMs = options.nowMs
  }

  /** Sends an episode; settles when it is acknowledged. Ignores a pending episode with the same id. */
  send(report: EpisodeReport): Promise<void> {
    const pending = this.#entries.get(report.episode_id)
    if (pending) return pending.answer.promise
    const answer = Promise.withResolvers<void>()
    answer.promise.catch(() => {}) // a caller that ignores the promise receives the reason through onError
    const problem = this.#enqueue(report, answer)
    if (problem) {
      answer.reject(problem)
      if (problem !== this.#closed) this.#report(problem)
    } else this.tick()
    return answer.promise
  }

  #enqueue(report: EpisodeReport, answer: PromiseWithResolvers<void>): Error | undefined {
    if (this.#closed) return this.#closed
    if (this.#entries.size >= MAX_ENTRIES)
      return new Error('too many unacknowledged episodes: wait for earlier ones')
    const { episode_id, started_at, ended_at, size_bytes, success, uri, task } = report
    const known = { type: 'episode', episode_id, started_at, ended_at, size_bytes, success, uri, task }
    const { data, error } = Episode.safeParse(known)
    if (error) return new TypeError('invalid episode', { cause: error })
    this.#entries.set(episode_id, { frame: data, answer, sent: false, dueMs: 0 })
    return undefined
  }

  /** Handles a new connection: sends all episodes again that have no answer. */
  online(): void {
    this.#unanswered = 0
    for (const entry of this.#entries.values()) {
      entry.sent = false
      entry.dueMs = 0
    }
    this.tick()
  }

  /** Sends the episodes that are due, oldest first, up to the limit of unanswered ones. Call it periodically. */
  tick(): void {
    const nowMs = this.#nowMs()
    for (const entry of this.#entries.values()) {
      if (nowMs < entry.dueMs) continue
      if (!entry.sent && this.#unanswered >= MAX_UNANSWERED) return
      if (!this.#transmit(entry.frame)) return
      if (!entry.sent) this.#unanswered += 1
      entry.sent = true
      entry.dueMs = nowMs + ANSWER_TIMEOUT_MS
    }
  }

  acknowledged(episodeId: string): void {
    const entry = this.#entries.get(episodeId)
    if (!entry) return
    this.#forget(episodeId, entry)
    entry.answer.resolve()
    this.tick()
  }

  /** Handles an `error` frame. If it refuses an episode, the outbox retries the episode later or rejects it. */
  refused({ episode_id: episodeId, retry_after_ms: retryAfterMs, message }: ErrorFrame): void {
    const entry = episodeId === undefined ? undefined : this.#entries.get(episodeId)
    if (!entry || episodeId === undefined) return
    if (retryAfterMs === undefined) {
      this.#forget(episodeId, entry)
      entry.answer.reject(new EpisodeRefusedError(message))
    } else {
      if (entry.sent) this.#unanswered -= 1
      entry.sent = false
      entry.dueMs = this.#nowMs() + retryAfterMs
    }
    this.tick()
  }

  /** Rejects all pending episodes and every later one. */
  close(cause: Error): void {
    this.#closed = cause
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    this.#unanswered = 0
    for (const { answer } of entries) answer.reject(cause)
  }

  #forget(episodeId: string, entry: OutboxEntry): void {
    this.#entries.delete(episodeId)
    if (entry.sent) this.#unanswered -= 1
  }
}
