import {
  BINARY_CONTROL,
  BINARY_HEADER_BYTES,
  MAX_FRAME_BYTES,
  MAX_TTL_MS,
  OperatorFrame,
  operatorFrameTypes,
  WatcherFrame,
  watcherFrameTypes,
} from '@wheelhouse/protocol'
import { readableIssues } from '../src/core/errors/errors.ts'
import { plainly } from '../src/core/http/plain-issues.ts'
import { parseFrame, type TextFrame } from './parse-frame.ts'
import type { PersonLink } from './person-link.ts'
import type { Relay } from './relay.ts'

/** Reads what operators and watchers send. */
export function createDriverFrames(parts: {
  relay: Relay
  /** Somebody pressed the stop. */
  press: (link: PersonLink, reason: string | undefined) => void
  deadmanMs: number
  clockMs: () => number
}) {
  const { relay, press, deadmanMs, clockMs } = parts

  const malformed = (link: PersonLink, message: string) => link.malformed(message, clockMs())

  function control(link: PersonLink, seq: number, t: number, ttlMs: number, data: unknown): void {
    if (!link.drive) return // what comes before the first state counts for nothing
    const { id } = link.drive.session
    const payload = JSON.stringify(data) ?? 'null'
    const frame = `{"type":"control","session_id":"${id}","seq":${seq},"t":${t},"ttl_ms":${ttlMs},"data":${payload}}`
    if (frame.length > MAX_FRAME_BYTES) return malformed(link, 'The frame is too large to be passed on')
    link.malformedFrames = 0
    relay.control(link, { seq, t, ttlMs }, frame)
  }

  /** Forwarded byte for byte: what is in it is between the operator and the robot. */
  function binary(link: PersonLink, data: ArrayBuffer): void {
    if (!link.isOperator) return malformed(link, 'Observers send text frames only.')
    if (data.byteLength < BINARY_HEADER_BYTES) return malformed(link, 'A binary frame begins with 16 bytes')
    const view = new DataView(data)
    const t = view.getFloat64(8)
    if (view.getUint8(0) !== BINARY_CONTROL || !Number.isFinite(t)) {
      return malformed(link, 'A binary frame of an operator is of kind 1, with a time that is a number')
    }
    link.malformedFrames = 0
    relay.control(link, { seq: view.getUint32(4), t, ttlMs: view.getUint16(2) || deadmanMs }, data)
  }

  function text(link: PersonLink, value: TextFrame): void {
    if (link.isOperator && isPlainControl(value)) {
      return control(link, value.seq, value.t, value.ttl_ms ?? deadmanMs, value.data)
    }
    const known = link.isOperator ? operatorFrameTypes : watcherFrameTypes
    if (!known.has(value.type)) {
      if (!link.isOperator && operatorFrameTypes.has(value.type))
        malformed(link, 'Observers cannot drive. Connect with a ticket for control.')
      return // newer clients may say more than this gateway understands
    }
    const parsed = (link.isOperator ? OperatorFrame : WatcherFrame).safeParse(value, plainly)
    if (!parsed.success) return malformed(link, readableIssues(parsed.error))
    const frame = parsed.data
    if (frame.type === 'control') {
      return control(link, frame.seq, frame.t, frame.ttl_ms ?? deadmanMs, frame.data)
    }
    link.malformedFrames = 0
    if (frame.type === 'ping') {
      link.sendIfFlowing(`{"type":"pong","t":${frame.t},"server_t":${Date.now()}}`, clockMs())
    } else if (link.drive) press(link, frame.reason)
    else link.earlyStop ??= { reason: frame.reason }
  }

  return {
    /** Reads one frame; answers the peer itself when it cannot be read. */
    read(link: PersonLink, data: ArrayBuffer, isBinary: boolean): void {
      if (!link.admit(data.byteLength, clockMs())) return
      if (isBinary) return binary(link, data)
      const value = parseFrame(Buffer.from(data).toString())
      if (typeof value === 'string') return malformed(link, value)
      text(link, value)
    },
  }
}
export type DriverFrames = ReturnType<typeof createDriverFrames>

interface PlainControl {
  readonly seq: number
  readonly t: number
  readonly ttl_ms?: number
  readonly data: unknown
}

/** Whether it is a control frame as the schema wants it, asked the short way: there are hundreds a second. */
function isPlainControl(value: TextFrame): value is PlainControl & { type: 'control' } {
  if (value.type !== 'control') return false
  const { seq, t, ttl_ms: ttlMs } = value as { seq?: unknown; t?: unknown; ttl_ms?: unknown }
  if (!Number.isSafeInteger(seq) || (seq as number) < 0 || !Number.isFinite(t)) return false
  if (ttlMs === undefined) return true
  return Number.isInteger(ttlMs) && (ttlMs as number) >= 1 && (ttlMs as number) <= MAX_TTL_MS
}
