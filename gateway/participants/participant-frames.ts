import {
  BINARY_CONTROL,
  BINARY_HEADER_BYTES,
  type DriveGoal,
  FIRST_EPOCH,
  MAX_FRAME_BYTES,
  ObserverFrame,
  OperatorFrame,
  observerFrameTypes,
  operatorFrameTypes,
} from '@wheelhouse/protocol'
import { readableIssues } from '../../src/core/errors/errors.ts'
import { parseOptions } from '../../src/core/http/validation-messages.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { StallClock } from '../base/clock.ts'
import type { FrameTime } from '../base/frame-time.ts'
import { parseFrame, type TextFrame } from '../base/parse-frame.ts'
import type { ChannelOffers, ChannelReader } from '../channel/channel-offers.ts'
import { readProbe } from '../channel/data-channel.ts'
import type { ControlRelay } from '../control/control-relay.ts'
import { ageOffsetMs } from '../control/gate.ts'
import type { Goals } from '../control/goals.ts'
import type { Stops } from '../control/stops.ts'
import type { ParticipantConnection } from './participant-connection.ts'
import { type PlainControl, readPlainControl } from './plain-control.ts'

/** Reads the frames of operators and observers. */
export function createParticipantFrames(deps: {
  controlRelay: ControlRelay
  goals: Pick<Goals, 'goal' | 'cancel'>
  /** Stops the robot on behalf of an admitted participant. */
  requestStop: Stops['requestStop']
  channelOffers: ChannelOffers
  frameTime: FrameTime
  guard: Guard
  /** Called with a round trip over the data channel, in milliseconds. */
  onRoundTrip: (connection: ParticipantConnection, roundTripMs: number) => void
  stallClock: StallClock
  deadmanMs: number
  clockMs: () => number
  preciseMs: () => number
}) {
  const { controlRelay, goals, requestStop, channelOffers, guard, onRoundTrip } = deps
  const { frameTime, stallClock, deadmanMs, clockMs, preciseMs } = deps

  const malformed = (connection: ParticipantConnection, message: string) =>
    connection.malformed(message, clockMs())

  /**
   * Returns how long a command remains valid beyond the fastest frames of its connections, in milliseconds; negative if
   * even they take longer than its lifetime. The default lifetime limits only the delay.
   */
  const validForMs = ({ controlSession }: ParticipantConnection, ttlMs: number | undefined): number =>
    ttlMs === undefined
      ? deadmanMs
      : ttlMs - (controlSession ? ageOffsetMs(controlSession.stream, preciseMs()) : 0)

  /** Relays a control frame, with its data as JSON text. */
  function control(
    connection: ParticipantConnection,
    { seq, t, ttlMs, videoAgeMs, seen, data }: PlainControl,
    speedScale: number | undefined,
  ): void {
    if (!connection.controlSession) return // control counts only after the first state
    const { lease, session } = connection.controlSession
    const { id } = session
    const epoch = lease.epoch === FIRST_EPOCH ? '' : `,"epoch":${lease.epoch}`
    const leftMs = validForMs(connection, ttlMs)
    const scaled = speedScale === undefined ? '' : `,"speed_scale":${speedScale}`
    const pictures = seen === undefined ? '' : `,"seen":${seen}`
    const frame = `{"type":"control","session_id":"${id}","seq":${seq}${epoch},"t":${t},"ttl_ms":${wholeTtlMs(leftMs)}${scaled}${pictures},"data":${data}}`
    if (frame.length > MAX_FRAME_BYTES)
      return malformed(connection, 'The frame is too large for the robot. Send a smaller one.')
    connection.recordWellFormed()
    if (connection.isNewControl(seq))
      controlRelay.control(connection, { seq, t, ttlMs: leftMs, videoAgeMs }, frame)
  }

  /** Relays a binary frame with the rest of its lifetime. Its payload is between the operator and the robot. */
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
    const seq = view.getUint32(4)
    const ttlMs = view.getUint16(2) || undefined
    const leftMs = validForMs(connection, ttlMs)
    if (ttlMs !== undefined) view.setUint16(2, wholeTtlMs(leftMs))
    if (connection.isNewControl(seq)) controlRelay.control(connection, { seq, t, ttlMs: leftMs }, data)
  }

  function goal(connection: ParticipantConnection, frame: DriveGoal): void {
    const ttlMs = validForMs(connection, frame.ttl_ms)
    goals.goal(connection, { seq: frame.seq, t: frame.t, ttlMs }, frame, wholeTtlMs(ttlMs))
  }

  function text(connection: ParticipantConnection, value: TextFrame): void {
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
      const { seq, t, ttl_ms: ttlMs, video_age_ms: videoAgeMs, speed_scale: speedScale } = frame
      const data = JSON.stringify(frame.data) ?? 'null'
      const seen = JSON.stringify(frame.seen)
      return control(connection, { seq, t, ttlMs, videoAgeMs, seen, data }, speedScale)
    }
    connection.recordWellFormed()
    if (frame.type === 'goal') return goal(connection, frame)
    if (frame.type === 'cancel_goal') return goals.cancel(connection)
    if (frame.type === 'video_age') return controlRelay.videoAge(connection, frame.video_age_ms)
    if (frame.type === 'ping') {
      connection.sendIfFlowing(`{"type":"pong","t":${frame.t},"server_t":${Date.now()}}`, clockMs())
    } else if (frame.type === 'channel_offer') {
      channelOffers.offer(connection, frame.sdp, channelReader)
    } else if (connection.isNewStop(frame.n)) {
      const { controlSession } = connection
      if (controlSession) requestStop(controlSession, { ...connection.requester, reason: frame.reason })
      else connection.noteEarlyStop(frame.reason)
    }
  }

  /** Relays a control frame in its usual form. Returns any other frame; undefined for a malformed one, which it answers. */
  function relayOrParse(connection: ParticipantConnection, frame: string): TextFrame | undefined {
    const plain = connection.isOperator ? readPlainControl(frame) : undefined
    if (plain) {
      control(connection, plain, undefined)
      return undefined
    }
    const value = parseFrame(frame)
    if (typeof value !== 'string') return value
    malformed(connection, value)
    return undefined
  }

  /** Returns false for a frame that must not be read, after answering the peer. */
  function accept(connection: ParticipantConnection, frame: string | ArrayBuffer | Uint8Array): boolean {
    const nowMs = clockMs()
    const bytes = typeof frame === 'string' ? frame.length : frame.byteLength
    if (!connection.acceptFrame(bytes, nowMs, stallClock.backlogMs(nowMs))) return false
    return frameTime.accepts(connection, frame, nowMs)
  }

  /** Reads one message of the data channel: control, stops and probes. Ignores others. */
  function readChannel(connection: ParticipantConnection, data: string | Uint8Array): void {
    if (!accept(connection, data)) return
    const startedMs = frameTime.nowMs()
    readFromChannel(connection, data)
    frameTime.charge(connection, startedMs, data.length, 'operator:channel')
  }

  function readFromChannel(connection: ParticipantConnection, data: string | Uint8Array): void {
    connection.channel?.probe()
    if (typeof data !== 'string') return binary(connection, Uint8Array.from(data).buffer)
    const value = relayOrParse(connection, data)
    if (!value) return
    const roundTripMs = readProbe(connection, value)
    if (typeof roundTripMs === 'number') onRoundTrip(connection, roundTripMs)
    else if (value.type === 'control' || value.type === 'stop') text(connection, value)
  }

  const channelReader: ChannelReader<ParticipantConnection> = {
    answered: (connection) => connection.beginUnordered(),
    message: guard.untimed('operator:channel', readChannel, (connection) =>
      connection.close('internalError'),
    ),
  }

  return {
    /** Reads one frame, and answers the peer itself if the frame is malformed. */
    read(connection: ParticipantConnection, data: ArrayBuffer, isBinary: boolean): void {
      if (!accept(connection, data)) return
      const startedMs = frameTime.nowMs()
      if (isBinary) binary(connection, data)
      else {
        const value = relayOrParse(connection, Buffer.from(data).toString())
        if (value) text(connection, value)
      }
      frameTime.charge(connection, startedMs, data.byteLength, 'participant:message')
    },
  }
}
/** Returns a lifetime as a frame states it: whole milliseconds, at least one. */
const wholeTtlMs = (ms: number): number => Math.max(1, Math.floor(ms))

export type ParticipantFrames = ReturnType<typeof createParticipantFrames>
