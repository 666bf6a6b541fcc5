/**
 * Returns the error of a server that could not listen, in one sentence that says what to do.
 * @param variable the setting that selects another port
 * @param cause the error of the system; undefined if it says only that the address is in use
 */
export function listenProblem(
  { host, port, variable }: { host: string; port: number; variable: string },
  cause?: NodeJS.ErrnoException,
): Error {
  const inUse = cause === undefined || cause.code === 'EADDRINUSE'
  const advice = inUse ? `The address is in use. Stop the other program or set ${variable}.` : cause.message
  return new Error(`Cannot listen on ${host}:${port}. ${advice}`, { cause })
}
