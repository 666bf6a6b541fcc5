import type { Schemas } from '@wheelhouse/sdk'

export type RobotHealth = Schemas['RobotHealth']

/** A connected robot has a sample in each interval. */
export const SAMPLE_MS = 5 * 60_000

/** A time with a connection, in Unix milliseconds, and its charges, 0 to 1. */
export interface ConnectedSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly charges: readonly { readonly atMs: number; readonly battery: number }[]
}

/** Joins successive samples to spans of connection. A missing sample separates two spans. */
export function connectedSpans(samples: RobotHealth['samples']): ConnectedSpan[] {
  const spans: { fromMs: number; toMs: number; charges: { atMs: number; battery: number }[] }[] = []
  for (const { at, battery } of samples) {
    const atMs = Date.parse(at)
    let span = spans.at(-1)
    if (!span || atMs > span.toMs) {
      span = { fromMs: atMs, toMs: atMs, charges: [] }
      spans.push(span)
    }
    span.toMs = atMs + SAMPLE_MS
    if (battery !== null) span.charges.push({ atMs, battery })
  }
  return spans
}

/** Returns the share of time with a connection, 0 to 1. */
export function connectedShare(spans: readonly ConnectedSpan[], fromMs: number, toMs: number): number {
  const connectedMs = spans.reduce(
    (sum, span) => sum + Math.max(0, Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs)),
    0,
  )
  return toMs > fromMs ? Math.min(1, connectedMs / (toMs - fromMs)) : 0
}
