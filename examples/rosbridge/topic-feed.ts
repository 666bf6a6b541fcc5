import type { OpId, SubscribeOp } from './ops.ts'

/** Largest number of queued messages for a throttled subscriber. A full queue drops the oldest message. */
const MAX_QUEUE_LENGTH = 10

interface Subscription {
  readonly throttleMs: number
  readonly queueLength: number
}

/**
 * Feeds one topic to one client. A client may subscribe to a topic several times with different ids. The lowest throttle
 * rate and the longest queue then apply to all, as the protocol specifies.
 */
export class TopicFeed {
  readonly #send: (text: string) => void
  readonly #subscriptions = new Map<OpId, Subscription>()
  readonly #queue: string[] = []
  #throttleMs = 0
  #queueLength = 0
  #sentAtMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(send: (text: string) => void) {
    this.#send = send
  }

  /** Number of subscriptions. */
  get size(): number {
    return this.#subscriptions.size
  }

  has(id: OpId): boolean {
    return this.#subscriptions.has(id)
  }

  subscribe({ id, throttle_rate = 0, queue_length = 0 }: SubscribeOp): void {
    this.#subscriptions.set(id, { throttleMs: throttle_rate, queueLength: queue_length })
    this.#settle()
  }

  /** Ends the subscription with this id, or all without an id. Returns whether a subscription existed. */
  unsubscribe(id: OpId): boolean {
    const known = id === undefined ? this.#subscriptions.size > 0 : this.#subscriptions.delete(id)
    if (id === undefined) this.#subscriptions.clear()
    this.#settle()
    return known
  }

  /** Sends a message now, queues it while throttled, or drops it without a queue. */
  offer(text: string): void {
    if (this.#subscriptions.size === 0) return
    if (this.#queue.length === 0 && this.#waitMs() <= 0) return this.#deliver(text)
    if (this.#queueLength === 0) return
    if (this.#queue.length >= this.#queueLength) this.#queue.shift()
    this.#queue.push(text)
    this.#arm()
  }

  close(): void {
    this.#subscriptions.clear()
    this.#settle()
  }

  #settle(): void {
    const subscriptions = [...this.#subscriptions.values()]
    this.#throttleMs = Math.min(...subscriptions.map(({ throttleMs }) => throttleMs))
    this.#queueLength = Math.min(
      MAX_QUEUE_LENGTH,
      Math.max(0, ...subscriptions.map(({ queueLength }) => queueLength)),
    )
    this.#queue.splice(0, this.#queue.length - (subscriptions.length === 0 ? 0 : this.#queueLength))
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#arm()
  }

  #arm(): void {
    if (this.#timer || this.#queue.length === 0) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        const text = this.#queue.shift()
        if (text !== undefined) this.#deliver(text)
        this.#arm()
      },
      Math.max(0, this.#waitMs()),
    )
  }

  #waitMs(): number {
    return this.#sentAtMs + this.#throttleMs - performance.now()
  }

  #deliver(text: string): void {
    this.#sentAtMs = performance.now()
    this.#send(text)
  }
}
