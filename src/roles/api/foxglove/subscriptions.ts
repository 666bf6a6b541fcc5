const MAX_SUBSCRIPTIONS = 256

/** The channels that a client knows, and its subscriptions to them. */
export class Subscriptions {
  readonly #channelIds = new Set<number>()
  readonly #subscriptionOf = new Map<number, number>()
  readonly #channelOf = new Map<number, number>()

  /** The subscribed channels. */
  get channelIds(): readonly number[] {
    return [...this.#subscriptionOf.keys()]
  }

  /** Returns the subscription to a channel. */
  idOf(channelId: number): number | undefined {
    return this.#subscriptionOf.get(channelId)
  }

  addChannel(channelId: number): void {
    this.#channelIds.add(channelId)
  }

  /** Removes a channel and the subscription to it. */
  removeChannel(channelId: number): void {
    this.#channelIds.delete(channelId)
    const id = this.#subscriptionOf.get(channelId)
    if (id !== undefined) this.remove(id)
  }

  /** Adds a subscription. Returns why it is refused, or undefined. */
  add(id: number, channelId: number): string | undefined {
    if (this.#subscriptionOf.size >= MAX_SUBSCRIPTIONS)
      return `A connection has at most ${MAX_SUBSCRIPTIONS} subscriptions.`
    if (!this.#channelIds.has(channelId)) return `No channel has the id ${channelId}.`
    if (this.#channelOf.has(id)) return `The subscription ${id} exists. Use another id.`
    if (this.#subscriptionOf.has(channelId)) return `The channel ${channelId} is already subscribed to.`
    this.#subscriptionOf.set(channelId, id)
    this.#channelOf.set(id, channelId)
    return undefined
  }

  /** Removes a subscription. Returns its channel, or undefined. */
  remove(id: number): number | undefined {
    const channelId = this.#channelOf.get(id)
    if (channelId === undefined) return undefined
    this.#channelOf.delete(id)
    this.#subscriptionOf.delete(channelId)
    return channelId
  }
}
