import {
  FLAG_BINARY,
  type RecordKind,
  type RecordWriter,
  recordKinds,
} from '../../src/modules/recordings/transport/index.ts'

/** The part of a stream of records that a tap uses. */
export type TapRecords = Pick<RecordWriter, 'write' | 'close'>

const NO_DETAIL = Number.NaN

/** Where the records of a session go: into a recording, only to live readers, or nowhere. */
export type TapMode = 'off' | 'live' | 'stored'

/** Sends to a recorder what happens in one session. The control relay calls it for every frame. */
export class SessionTap {
  #stream: TapRecords | null = null
  #mode: TapMode = 'off'

  get mode(): TapMode {
    return this.#mode
  }

  /** Begins to send. `state` is the state frame at this moment. */
  begin(stream: TapRecords, mode: 'live' | 'stored', state: string): void {
    this.end()
    this.#stream = stream
    this.#mode = mode
    this.frame('stop', state)
  }

  end(): void {
    this.#stream?.close()
    this.#stream = null
    this.#mode = 'off'
  }

  /** Records a control frame that was sent to the robot, with its age in milliseconds. */
  passed(frame: string | ArrayBuffer, ageMs: number): void {
    if (this.#stream) this.#write('control', frame, ageMs, '')
  }

  /** Records a control frame that did not reach the robot, and why. */
  dropped(frame: string | ArrayBuffer, why: string): void {
    if (this.#stream) this.#write('dropped', frame, NO_DETAIL, why)
  }

  /** Records a sample, with its age in milliseconds; NaN if that is unknown. */
  telemetry(frame: string | ArrayBuffer, ageMs: number): void {
    if (this.#stream) this.#write('telemetry', frame, ageMs, '')
  }

  /** Records a frame that participants receive: limits, latency or the state with its stop. */
  frame(kind: 'limits' | 'latency' | 'stop', frame: string): void {
    if (this.#stream) this.#write(kind, frame, NO_DETAIL, '')
  }

  #write(kind: RecordKind, frame: string | ArrayBuffer, detail: number, note: string): void {
    const isText = typeof frame === 'string'
    this.#stream?.write({
      kind: recordKinds[kind],
      flags: isText ? 0 : FLAG_BINARY,
      detail,
      note,
      payload: isText ? frame : new Uint8Array(frame),
    })
  }
}
