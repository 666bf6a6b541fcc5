/** Serializes tasks of the same key. Tasks of different keys run concurrently. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `task` after all earlier tasks of `key` have settled. @returns its result */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key) ?? Promise.resolve()
    const result = previous.then(task)
    const settled = result
      .catch(() => {})
      .then(() => {
        // The map contains only keys with pending tasks.
        if (this.#last.get(key) === settled) this.#last.delete(key)
      })
    this.#last.set(key, settled)
    return result
  }
}
