/** Share of a layer's bitrate below which a path is too slow for it. */
const TOO_SLOW = 0.85
/** After a change, estimates of the path are not yet meaningful. */
const SETTLE_MS = 3_000
/** A larger layer is tried again after these waits: a path that is used less is not measured beyond its use. */
const [FIRST_RETRY_MS, MAX_RETRY_MS] = [8_000, 64_000]

/** Chooses the layer that one viewer receives, as an index: 0 is the smallest one. */
export class LayerChoice {
  #index = Number.POSITIVE_INFINITY
  #changedMs: number | undefined
  #retryMs = FIRST_RETRY_MS

  /**
   * Returns the layer from now on.
   * @param rates bits per second of the layers, the smallest first; not empty
   * @param limit bits per second that the viewer's path allows, by its own estimate; undefined before the first one
   */
  choose(rates: readonly number[], limit: number | undefined, nowMs: number): number {
    const top = rates.length - 1
    const current = Math.min(this.#index, top)
    this.#changedMs ??= nowMs
    const sinceChangeMs = nowMs - this.#changedMs
    const isSettled = sinceChangeMs >= SETTLE_MS
    if (isSettled && current > 0 && limit !== undefined && limit < TOO_SLOW * (rates[current] as number)) {
      const isAnotherFailure = this.#index !== Number.POSITIVE_INFINITY
      if (isAnotherFailure) this.#retryMs = Math.min(MAX_RETRY_MS, 2 * this.#retryMs)
      return this.#change(largestWithin(rates, limit), nowMs)
    }
    if (current < top && sinceChangeMs >= this.#retryMs) return this.#change(current + 1, nowMs)
    return current
  }

  #change(index: number, nowMs: number): number {
    this.#index = index
    this.#changedMs = nowMs
    return index
  }
}

/** Returns the largest layer that a path allows; the smallest one if it allows none. */
const largestWithin = (rates: readonly number[], limit: number): number =>
  Math.max(
    0,
    rates.findLastIndex((rate) => rate <= limit),
  )
