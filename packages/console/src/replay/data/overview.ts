/** The state of the session from a time on, as the gateway had it. */
export interface StopEntry {
  readonly atMs: number
  readonly status: string
  readonly isConnected: boolean
  readonly stop: { readonly reason: string; readonly latched: boolean } | null
}
/** An event of the log, or a message of the chat. */
export interface EventEntry {
  readonly atMs: number
  readonly seq: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The summary of a recording that its time axis shows. Its size does not depend on the length of the recording. */
export interface Overview {
  readonly originMs: number
  readonly widthMs: number
  /** Two values for each bucket, by the source and the path of the number, such as `telemetry:battery`. */
  readonly series: ReadonlyMap<string, Float64Array<ArrayBuffer>>
  readonly passed: Uint32Array<ArrayBuffer>
  readonly dropped: ReadonlyMap<string, Uint32Array<ArrayBuffer>>
  readonly poses: Float64Array<ArrayBuffer>
  readonly stops: readonly StopEntry[]
  readonly events: readonly EventEntry[]
}

const MAX_DEPTH = 3
/** Longer arrays are scans, not joints. */
const MAX_ITEMS = 16

/** Calls a function with each number of a JSON value and its path, such as `velocity.linear_mps` or `joints.0`. */
export function eachNumber(value: unknown, visit: (path: string, number: number) => void): void {
  const visitAt = (inner: unknown, path: readonly string[]): void => {
    if (Number.isFinite(inner)) visit(path.join('.') || 'value', Number(inner))
    if (typeof inner !== 'object' || inner === null || path.length >= MAX_DEPTH) return
    if (Array.isArray(inner) && inner.length > MAX_ITEMS) return
    for (const [name, value] of Object.entries(inner)) visitAt(value, [...path, name])
  }
  visitAt(value, [])
}
