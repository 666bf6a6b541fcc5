/** A server that is starting on a busy machine accepts a connection and does not answer in time, or gives it up. */
const UNANSWERED = /^timeout expired$|^Connection terminated/

/**
 * Returns whether the connection failed because the server is starting or stopping: it refuses, resets or does not answer the
 * connection, or reports class 57P.
 */
export function isServerBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    ['ECONNREFUSED', 'ECONNRESET', '57P01', '57P02', '57P03'].includes(code) || UNANSWERED.test(error.message)
  )
}
