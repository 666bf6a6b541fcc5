/** What a rule found. `measured` and `limit` are for the reader: "312 ms", "at most 850 ms". */
export type Finding =
  | { readonly outcome: 'passed' | 'failed'; readonly measured: string; readonly limit: string }
  | { readonly outcome: 'not tested'; readonly reason: string }

/** One duty of the protocol, and how to find out whether a program keeps it. */
export interface Rule<Bench> {
  /** Stable: reports and `--only` use it. */
  readonly id: string
  readonly title: string
  /** Whom the rule protects, and against what. */
  readonly protects: string
  /** The section of the protocol with the duty, relative to `docs/`. */
  readonly duty: string
  /** Whether `--quick` tests it. */
  readonly quick: boolean
  readonly test: (bench: Bench) => Promise<Finding>
}

/** The finding of a rule, and how long the test took. */
export type Verdict = Finding & {
  readonly id: string
  readonly title: string
  readonly duty: string
  readonly duration_ms: number
}

/** A situation that could not be brought about, so that the rule says nothing. */
export class NotTested extends Error {
  override readonly name = 'NotTested'
}

/** A failure that no rule looks for: the program ended, or does not connect any more. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

/** Returns the finding of a measurement that must fulfil a condition. */
export const judge = (passed: boolean, measured: string, limit: string): Finding => ({
  outcome: passed ? 'passed' : 'failed',
  measured,
  limit,
})

/** Returns the finding of a time that has an upper limit. Without a time, it did not happen within the limit. */
export function judgeTime(tookMs: number | undefined, limitMs: number): Finding {
  const measured = tookMs === undefined ? `not within ${inMs(limitMs)}` : inMs(tookMs)
  return judge(tookMs !== undefined && tookMs <= limitMs, measured, `at most ${inMs(limitMs)}`)
}

/** Returns a duration as text. */
export const inMs = (ms: number): string => `${Math.round(ms)} ms`

/** Which rules to test. */
export interface Selection {
  readonly only?: readonly string[] | undefined
  readonly quick?: boolean | undefined
}

/** Returns the rules of a selection, in their order. */
export function selectRules<Bench>(rules: readonly Rule<Bench>[], { only, quick }: Selection): Rule<Bench>[] {
  return rules.filter((rule) => (only ? only.includes(rule.id) : !quick || rule.quick))
}

/** Tests rules one after the other. @throws the reason of the signal when it is aborted */
export async function testRules<Bench>(
  rules: readonly Rule<Bench>[],
  bench: Bench,
  { signal, onVerdict }: { signal: AbortSignal; onVerdict?: ((verdict: Verdict) => void) | undefined },
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const rule of rules) {
    signal.throwIfAborted()
    const startedMs = performance.now()
    const finding = await rule.test(bench).catch((cause: unknown): Finding => {
      signal.throwIfAborted()
      if (cause instanceof NotTested) return { outcome: 'not tested', reason: cause.message }
      if (cause instanceof Broken) return judge(false, cause.message, 'the program goes on')
      throw cause
    })
    const { id, title, duty } = rule
    const verdict = { ...finding, id, title, duty, duration_ms: Math.round(performance.now() - startedMs) }
    verdicts.push(verdict)
    onVerdict?.(verdict)
  }
  return verdicts
}
