/** Runs tasks of one key one after the other; tasks of different keys do not wait for each other. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `task` once all earlier tasks of `key` have settled; answers with its result. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const result = before.then(task)
    const settled = result
      .catch(() => {})
      .then(() => {
        // The map holds only keys with work in hand.
        if (this.#last.get(key) === settled) this.#last.delete(key)
      })
    this.#last.set(key, settled)
    return result
  }
}
