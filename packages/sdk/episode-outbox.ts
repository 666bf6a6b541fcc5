import { Episode, type ErrorFrame } from '@wheelhouse/protocol'
import { EpisodeRefusedError } from './errors.ts'

/** What a robot says of a recording; see the `episode` frame of the protocol. Times are Unix milliseconds. */
export type EpisodeReport = Pick<
  Episode,
  'episode_id' | 'started_at' | 'ended_at' | 'size_bytes' | 'success' | 'uri'
>

/** Episodes kept until they are acknowledged. */
const MAX_ENTRIES = 1_000
/** Episodes sent and not answered yet; the gateway takes 100 of one robot at a time. */
const MAX_UNANSWERED = 32
/** After this long without an answer on a living connection, an episode is sent again. */
const ANSWER_TIMEOUT_MS = 15_000

interface OutboxEntry {
  readonly frame: Episode
  readonly answer: PromiseWithResolvers<void>
  /** Sent on this connection, and not answered yet. */
  sent: boolean
  /** When it may be sent, or sent again. */
  dueMs: number
}

/** Sends episodes until they are acknowledged; the platform recognises repetitions by `episode_id`. */
export class EpisodeOutbox {
  readonly #entries = new Map<string, OutboxEntry>()
  readonly #transmit: (frame: Episode) => boolean
  readonly #report: (cause: unknown) => void
  readonly #nowMs: () => number
  #unanswered = 0
  #closed: Error | undefined

  /** @param options.transmit answers whether the frame went out; `nowMs` is any monotonic clock. */
  constructor(options: {
    transmit: (frame: Episode) => boolean
    report: (cause: unknown) => void
    nowMs: () => number
  }) {
    this.#transmit = options.transmit
    this.#report = options.report
    this.#nowMs = options.nowMs
  }

  /** Settles once the episode is acknowledged. One that waits already is not taken a second time. */
  send(report: EpisodeReport): Promise<void> {
    const waiting = this.#entries.get(report.episode_id)
    if (waiting) return waiting.answer.promise
    const answer = Promise.withResolvers<void>()
    answer.promise.catch(() => {}) // whoever ignores the promise learns the reason from onError
    const problem = this.#enqueue(report, answer)
    if (problem) {
      answer.reject(problem)
      if (problem !== this.#closed) this.#report(problem)
    } else this.tick()
    return answer.promise
  }

  #enqueue(report: EpisodeReport, answer: PromiseWithResolvers<void>): Error | undefined {
    if (this.#closed) return this.#closed
    if (this.#entries.size >= MAX_ENTRIES) return new Error('too many episodes wait to be acknowledged')
    const { episode_id, started_at, ended_at, size_bytes, success, uri } = report
    const known = { type: 'episode', episode_id, started_at, ended_at, size_bytes, success, uri }
    const { data, error } = Episode.safeParse(known)
    if (error) return new TypeError('this is no episode', { cause: error })
    this.#entries.set(episode_id, { frame: data, answer, sent: false, dueMs: 0 })
    return undefined
  }

  /** A new connection: what the old one has not been answered goes out again. */
  online(): void {
    this.#unanswered = 0
    for (const entry of this.#entries.values()) {
      entry.sent = false
      entry.dueMs = 0
    }
    this.tick()
  }

  /** Sends what is due, oldest first, as much as may be unanswered. Call it again and again. */
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

  /** An `error` frame: about an episode, it comes later or not at all. */
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

  /** Gives up: nothing will be acknowledged any more. */
  close(cause: Error): void {
    this.#closed = cause
    const entry = [...this.#entries.values()]
    this.#entries.clear()
    this.#unanswered = 0
    for (const { answer } of entry) answer.reject(cause)
  }

  #forget(episodeId: string, entry: OutboxEntry): void {
    this.#entries.delete(episodeId)
    if (entry.sent) this.#unanswered -= 1
  }
}
