/**
 * Runs a callback so that its errors cannot corrupt the state of a link. Errors go to `onError`. Without `onError`,
 * an error becomes an uncaught exception, as in an event listener.
 */
export function safeCallback(onError: ((cause: unknown) => void) | undefined, run: () => void): void {
  try {
    run()
  } catch (cause) {
    queueMicrotask(() => {
      if (!onError) throw cause
      onError(cause)
    })
  }
}
