import { createTranscript, type Transcript } from './transcript.ts'

/** Ends a demo that hangs. A busy machine may need a second for a step. */
const EXPECTATION_TIMEOUT_MS = 120_000

/**
 * Shows a transcript on standard output, with pauses on a terminal. When the demo fails or is interrupted, prints the
 * step and the reason, and sets the exit code 1.
 */
export async function runInTerminal(
  env: Record<string, string | undefined>,
  perform: (transcript: Transcript) => Promise<void>,
): Promise<void> {
  const interruption = new AbortController()
  const interrupt = (reason: string) => interruption.abort(new Error(reason))
  // Once: a second signal ends the process at once.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(name, () => interrupt(`The demo received ${name}.`))
  process.stdout.on('error', () => interrupt('The output was closed.'))
  const terminal = process.stdout.isTTY === true
  const transcript = createTranscript({
    write: (text) => process.stdout.write(text),
    coloured: terminal && !env.NO_COLOR,
    paced: terminal,
    expectationTimeoutMs: EXPECTATION_TIMEOUT_MS,
    signal: interruption.signal,
  })
  try {
    await perform(transcript)
  } catch (caught) {
    const cause: unknown = interruption.signal.aborted ? interruption.signal.reason : caught
    const location = transcript.stepNumber === 0 ? '' : `In step ${transcript.stepNumber}: `
    process.stdout.write(
      `\n✗ The demo failed. ${location}${cause instanceof Error ? cause.message : cause}\n`,
    )
    if (env.LOG_LEVEL === 'debug') console.error(cause)
    process.exitCode = 1
  }
}
