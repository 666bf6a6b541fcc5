import { maxRecordBytes, recordKinds, type WrittenRecord, writeRecord } from './record-wire.ts'

type StateRecord = Omit<WrittenRecord, 'stream' | 'atMs'>

/** Kinds of records that hold until the next one of their kind. */
const STATE_KINDS: ReadonlySet<number> = new Set([recordKinds.stop, recordKinds.limits])

/** The newest record of each state of a stream. */
export class KeptStates {
  readonly #states = new Map<number, { readonly record: StateRecord; readonly atMs: number }>()

  keep(record: StateRecord, atMs: number): void {
    if (!STATE_KINDS.has(record.kind)) return
    const { payload } = record
    const copy = typeof payload === 'string' ? payload : new Uint8Array(payload)
    this.#states.delete(record.kind)
    this.#states.set(record.kind, { record: { ...record, payload: copy }, atMs })
  }

  /** Returns the states, in the order of their times. */
  records(): StateRecord[] {
    return [...this.#states.values()].map(({ record }) => record)
  }

  /** Returns the states before a time as a batch, or all; undefined if there are none. */
  encode(stream: number, beforeMs: number | undefined): Uint8Array | undefined {
    const states = [...this.#states.values()].filter(({ atMs }) => beforeMs === undefined || atMs < beforeMs)
    if (states.length === 0) return undefined
    const bytes = states.reduce((sum, { record }) => sum + maxRecordBytes(record.note, record.payload), 0)
    const batch = Buffer.allocUnsafe(bytes)
    let end = 0
    for (const { record, atMs } of states) end = writeRecord(batch, end, record, stream, atMs)
    return batch.subarray(0, end)
  }
}
