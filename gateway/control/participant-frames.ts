import {
  BINARY_CONTROL,
  BINARY_HEADER_BYTES,
  MAX_FRAME_BYTES,
  MAX_TTL_MS,
  ObserverFrame,
  OperatorFrame,
  observerFrameTypes,
  operatorFrameTypes,
} from '@wheelhouse/protocol'
import { readableIssues } from '../../src/core/errors/errors.ts'
import { parseOptions } from '../../src/core/http/validation-messages.ts'
import { parseFrame, type TextFrame } from '../connections/parse-frame.ts'
import type { StallClock } from '../connections/stall-clock.ts'
import type { ControlRelay } from './control-relay.ts'
import type { ParticipantConnection } from './participant-connection.ts'

/** Reads the frames of operators and observers. */
export function createParticipantFrames(deps: {
  controlRelay: ControlRelay
  /** Called for a stop of an admitted participant. */
  onStopFrame: (connection: ParticipantConnection, reason: string | undefined) => void
  stallClock: StallClock
  deadmanMs: number
  clockMs: () => number
}) {
  const { controlRelay, onStopFrame, stallClock, deadmanMs, clockMs } = deps

  const malformed = (connection: ParticipantConnection, message: string) =>
    connection.malformed(message, clockMs())

  function control(
    connection: ParticipantConnection,
    seq: number,
    t: number,
    ttlMs: number,
    speedScale: number | undefined,
    data: unknown,
  ): void {
    if (!connection.controlSession) return // control counts only after the first state
    const { id } = connection.controlSession.session
    const payload = JSON.stringify(data) ?? 'null'
    const scaled = speedScale === undefined ? '' : `,"speed_scale":${speedScale}`
    const frame = `{"type":"control","session_id":"${id}","seq":${seq},"t":${t},"ttl_ms":${ttlMs}${scaled},"data":${payload}}`
    if (frame.length > MAX_FRAME_BYTES)
      return malformed(connection, 'The frame is too large for the robot. Send a smaller one.')
    connection.recordWellFormed()
    controlRelay.control(connection, { seq, t, ttlMs }, frame)
  }

  /** Relays a binary frame byte for byte: its payload is between the operator and the robot. */
  function binary(connection: ParticipantConnection, data: ArrayBuffer): void {
    if (!connection.isOperator) return malformed(connection, 'Observers send text frames only.')
    if (data.byteLength < BINARY_HEADER_BYTES)
      return malformed(connection, 'A binary frame begins with a header of 16 bytes.')
    const view = new DataView(data)
    const t = view.getFloat64(8)
    if (view.getUint8(0) !== BINARY_CONTROL || !Number.isFinite(t)) {
      return malformed(connection, 'A binary frame of an operator has kind 1 and a finite time.')
    }
    connection.recordWellFormed()
    controlRelay.control(
      connection,
      { seq: view.getUint32(4), t, ttlMs: view.getUint16(2) || deadmanMs },
      data,
    )
  }

  function text(connection: ParticipantConnection, value: TextFrame): void {
    if (connection.isOperator && isPlainControl(value)) {
      return control(connection, value.seq, value.t, value.ttl_ms ?? deadmanMs, value.speed_scale, value.data)
    }
    const known = connection.isOperator ? operatorFrameTypes : observerFrameTypes
    if (!known.has(value.type)) {
      if (!connection.isOperator && operatorFrameTypes.has(value.type))
        malformed(connection, 'Observers cannot drive. Connect with a ticket for control.')
      return // newer clients may send types that this gateway does not know
    }
    const parsed = (connection.isOperator ? OperatorFrame : ObserverFrame).safeParse(value, parseOptions)
    if (!parsed.success) return malformed(connection, readableIssues(parsed.error))
    const frame = parsed.data
    if (frame.type === 'control') {
      return control(connection, frame.seq, frame.t, frame.ttl_ms ?? deadmanMs, frame.speed_scale, frame.data)
    }
    connection.recordWellFormed()
    if (frame.type === 'ping') {
      connection.sendIfFlowing(`{"type":"pong","t":${frame.t},"server_t":${Date.now()}}`, clockMs())
    } else if (connection.controlSession) onStopFrame(connection, frame.reason)
    else connection.noteEarlyStop(frame.reason)
  }

  return {
    /** Reads one frame, and answers the peer itself if the frame is malformed. */
    read(connection: ParticipantConnection, data: ArrayBuffer, isBinary: boolean): void {
      const nowMs = clockMs()
      if (!connection.acceptFrame(data.byteLength, nowMs, stallClock.backlogMs(nowMs))) return
      if (isBinary) return binary(connection, data)
      const value = parseFrame(Buffer.from(data).toString())
      if (typeof value === 'string') return malformed(connection, value)
      text(connection, value)
    },
  }
}
export type ParticipantFrames = ReturnType<typeof createParticipantFrames>

interface PlainControl {
  readonly seq: number
  readonly t: number
  readonly ttl_ms?: number
  readonly speed_scale?: number
  readonly data: unknown
}

/** Checks a control frame against its schema without zod, because there are hundreds of them in a second. */
function isPlainControl(value: TextFrame): value is PlainControl & { type: 'control' } {
  if (value.type !== 'control') return false
  const { seq, t, ttl_ms: ttlMs } = value as { seq?: unknown; t?: unknown; ttl_ms?: unknown }
  if ('speed_scale' in value) return false
  if (!Number.isSafeInteger(seq) || (seq as number) < 0 || !Number.isFinite(t)) return false
  if (ttlMs === undefined) return true
  return Number.isInteger(ttlMs) && (ttlMs as number) >= 1 && (ttlMs as number) <= MAX_TTL_MS
}
