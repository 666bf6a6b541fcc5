/** The state of the session from a time on, as the gateway had it. */
export interface StopEntry {
  readonly atMs: number
  readonly status: string
  readonly isConnected: boolean
  readonly stop: { readonly reason: string; readonly latched: boolean; readonly byRole: string | null } | null
}
export interface EventEntry {
  readonly atMs: number
  readonly seq: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}
export interface ChatEntry {
  readonly atMs: number
  readonly seq: number
  readonly id: string
  readonly senderName: string
  readonly senderRole: string
  readonly body: string
}

/** The summary of a recording that its time axis shows. Its size does not depend on the length of the recording. */
export interface Overview {
  readonly originMs: number
  readonly widthMs: number
  /** Two values for each bucket, by the source and the path of the number, such as `telemetry:battery`. */
  readonly series: ReadonlyMap<string, Float64Array<ArrayBuffer>>
  readonly passed: Uint32Array<ArrayBuffer>
  /** Commands that did not reach the robot, by reason. */
  readonly dropped: ReadonlyMap<string, Uint32Array<ArrayBuffer>>
  /** Time, x, y and heading for each bucket. */
  readonly poses: Float64Array<ArrayBuffer>
  readonly stops: readonly StopEntry[]
  readonly events: readonly EventEntry[]
  readonly chat: readonly ChatEntry[]
}

const MAX_DEPTH = 3
/** Longer arrays are scans, not joints. */
const MAX_ITEMS = 16

/** Calls a function with each number of a JSON value and its path, such as `velocity.linear_mps` or `joints.0`. */
export function eachNumber(value: unknown, visit: (path: string, number: number) => void): void {
  visitAt(value, '', 0, visit)
}

function visitAt(
  value: unknown,
  path: string,
  depth: number,
  visit: (path: string, number: number) => void,
): void {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) visit(path || 'value', value)
    return
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return
  if (Array.isArray(value) && value.length > MAX_ITEMS) return
  for (const [name, inner] of Object.entries(value))
    visitAt(inner, path === '' ? name : `${path}.${name}`, depth + 1, visit)
}
