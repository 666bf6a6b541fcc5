/**
 * Runs a callback so that its errors cannot corrupt the state of a link. Errors go to `onError`, also those of an
 * asynchronous callback. Without `onError`, an error becomes an uncaught exception, as in an event listener.
 */
export function safeCallback(onError: ((cause: unknown) => void) | undefined, run: () => unknown): void {
  try {
    const result = run()
    if (onError && result instanceof Promise) result.catch(onError)
  } catch (cause) {
    queueMicrotask(() => {
      if (!onError) throw cause
      onError(cause)
    })
  }
}
