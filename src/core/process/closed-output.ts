/** The codes of a failed write to a pipe or a terminal without a reader. */
const CLOSED: ReadonlySet<unknown> = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED'])

interface Output {
  on(event: 'error', listener: (cause: NodeJS.ErrnoException) => void): unknown
}

/**
 * Lets the process continue without its output: the program that reads it may end first, such as `head` or a collector of logs, and
 * robots must not stop for that. Later output is lost. Other failures stay uncaught exceptions. A terminal that closes also sends SIGHUP.
 */
export function ignoreClosedOutput(outputs: readonly Output[] = [process.stdout, process.stderr]): void {
  for (const output of outputs)
    output.on('error', (cause) => {
      if (!CLOSED.has(cause.code)) throw cause
    })
}
