import { setTimeout as delay } from 'node:timers/promises'
import { styleText } from 'node:util'

export type Side = 'ROBOT' | 'OPERATOR' | 'OWNER' | 'STRIPE'

/** An event that the demo expects has not happened. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError'
}

/** Pause between two steps on a terminal, so that a reader can follow. */
const READING_PAUSE_MS = 700
const UUID_TAIL = /\b([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g
const colours = { ROBOT: 'cyan', OPERATOR: 'yellow', OWNER: 'magenta', STRIPE: 'green' } as const

interface Observation {
  readonly side: Side
  readonly text: string
  readonly afterMs: number
  /** Each line that a side sees satisfies one expectation only. */
  matched: boolean
}

export interface TranscriptOptions {
  readonly write: (text: string) => void
  readonly coloured: boolean
  /** Pauses between steps, for a reader. */
  readonly paced: boolean
  /** How long an expectation waits, in milliseconds. */
  readonly expectationTimeoutMs: number
  /** Ends all waiting when the demo is interrupted. */
  readonly signal: AbortSignal
}

/** Prints what every side sends and sees, line by line, and checks the expectations of the demo. */
export function createTranscript({
  write,
  coloured,
  paced,
  expectationTimeoutMs,
  signal,
}: TranscriptOptions) {
  let stepNumber = 0
  let sentAtMs = performance.now()
  let observations: Observation[] = []
  let wake = Promise.withResolvers<void>()
  let muted = false
  const latencies: { label: string; ms: number }[] = []

  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    coloured ? styleText(style, text, { validateStream: false }) : text
  const line = (side: Side, sign: string, text: string, afterMs?: number) => {
    if (muted) return
    const time = afterMs === undefined ? '' : `${afterMs.toFixed(1)} ms`
    const short = text.replace(UUID_TAIL, '$1…')
    write(`${paint('dim', time.padStart(12))}  ${paint(colours[side], side.padEnd(8))} ${sign} ${short}\n`)
  }

  return {
    /** Begins the next step; lines of earlier steps satisfy no expectation any more. */
    async step(title: string): Promise<void> {
      if (paced && stepNumber > 0) await Promise.race([delay(READING_PAUSE_MS), aborted(signal)])
      signal.throwIfAborted()
      stepNumber += 1
      observations = []
      write(`\n${paint('bold', `Step ${stepNumber}  ${title}`)}\n`)
    },

    /** Logs what a side sends; later times count from here. */
    logSent(side: Side, text: string): void {
      line(side, '→', text)
      sentAtMs = performance.now()
    },

    /** Logs a fault of a side's connection; later times count from here. */
    logFault(side: Side, text: string): void {
      line(side, '×', text)
      sentAtMs = performance.now()
    },

    /** Logs what a side sees, by default `afterMs` after the last line of `logSent` or `logFault`. */
    logReceived(side: Side, text: string, afterMs = performance.now() - sentAtMs): void {
      line(side, '←', text, afterMs)
      observations.push({ side, text, afterMs, matched: false })
      wake.resolve()
      wake = Promise.withResolvers()
    },

    /** Logs a successful check. */
    logCheck: (side: Side, text: string): void => line(side, '✓', text),

    /**
     * Waits until this side has seen a line that begins with `text` in the current step.
     * @returns after how many milliseconds it was seen
     * @throws ExpectationError when the timeout is over
     */
    async waitFor(side: Side, text: string): Promise<number> {
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(expectationTimeoutMs)])
      for (;;) {
        const found = observations.find(
          (observation) =>
            !observation.matched && observation.side === side && observation.text.startsWith(text),
        )
        if (found) {
          found.matched = true
          return found.afterMs
        }
        signal.throwIfAborted()
        if (timeout.aborted)
          throw new ExpectationError(`${side} did not see "${text}" within ${expectationTimeoutMs} ms`)
        await Promise.race([wake.promise, aborted(timeout)])
      }
    },

    /** Records a latency for the summary. */
    recordLatency: (label: string, ms: number) => void latencies.push({ label, ms }),

    table(rows: readonly (readonly string[])[]): void {
      const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
      for (const [index, row] of rows.entries()) {
        const text = row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()
        write(`${' '.repeat(14)}${index === 0 ? paint('underline', text) : text}\n`)
      }
    },

    summary(): void {
      write(`\n${paint('bold', 'Latencies, as each side saw them')}\n`)
      for (const { label, ms } of latencies) write(`${`${ms.toFixed(1)} ms`.padStart(12)}  ${label}\n`)
    },

    /** Ignores everything that the sides send or see from here on. */
    mute: (): void => {
      muted = true
    },

    print: (text: string): void => write(`${text}\n`),
    expectationTimeoutMs,
    signal,
    /** The current step; 0 before the first. */
    get stepNumber() {
      return stepNumber
    },
  }
}
export type Transcript = ReturnType<typeof createTranscript>

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
