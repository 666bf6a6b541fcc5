/**
 * Runs a caller's callback so that what it throws cannot upset the state of a link. The error goes to `onError`,
 * or, without one, becomes an uncaught exception like that of any event listener: never swallowed.
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
