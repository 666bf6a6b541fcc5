import {
  type Autonomy,
  BINARY_HEADER_BYTES,
  BINARY_TELEMETRY,
  type Episode,
  EpisodeId,
  RobotFrame,
  robotFrameTypes,
} from '@wheelhouse/protocol'
import { readableIssues } from '../../src/core/errors/errors.ts'
import { parseOptions } from '../../src/core/http/validation-messages.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { StallClock } from '../base/clock.ts'
import type { FrameTime } from '../base/frame-time.ts'
import { NO_JSON_TELEMETRY, parseFrame, type TextFrame, TOO_DEEP } from '../base/parse-frame.ts'
import type { ChannelOffers, ChannelReader } from '../channel/channel-offers.ts'
import { readProbe } from '../channel/data-channel.ts'
import type { ControlRelay } from '../control/control-relay.ts'
import type { Goals } from '../control/goals.ts'
import { type BatteryFeed, chargeOf } from '../writer/battery-feed.ts'
import { type LogLine, logLineOf } from '../writer/robot-logs.ts'
import type { RobotConnection } from './robot-connection.ts'

/** Where the clock of the sender is in the header of a binary frame. */
const CLOCK_AT = 8

/** Reads the frames of robots. Every frame is a sign of life; a heartbeat is also queued for the database. */
export function createRobotFrames(deps: {
  enqueueHeartbeat: (connection: RobotConnection) => void
  answerHeartbeat: (connection: RobotConnection, seq: number | null, nowMs: number) => void
  acceptEpisode: (connection: RobotConnection, episode: Episode, nowMs: number) => void
  acceptLogLine: (connection: RobotConnection, line: LogLine, nowMs: number) => void
  controlRelay: ControlRelay
  goals: Pick<Goals, 'report'>
  frameTime: FrameTime
  channelOffers: ChannelOffers
  guard: Guard
  clockMs: () => number
  /** Called with a round trip over the data channel, in milliseconds. */
  onRoundTrip: (connection: RobotConnection, roundTripMs: number) => void
  battery: BatteryFeed
  stallClock: StallClock
}) {
  const { enqueueHeartbeat, answerHeartbeat, acceptEpisode, acceptLogLine, controlRelay, goals } = deps
  const { battery, stallClock } = deps
  const { channelOffers, frameTime, onRoundTrip, guard, clockMs } = deps
  const counts = { frames: 0, heartbeats: 0 }

  /** Accepts every heartbeat, whatever its fields contain: it proves that the robot works. */
  function heartbeat(connection: RobotConnection, value: object, nowMs: number): void {
    const { seq, battery: charge } = value as Heartbeat
    counts.heartbeats++
    connection.recordHeartbeat(nowMs)
    connection.recordWellFormed()
    if (charge !== undefined) battery.report(connection, chargeOf(charge), nowMs)
    enqueueHeartbeat(connection)
    answerHeartbeat(connection, isSequence(seq) ? seq : null, nowMs)
  }

  /** Passes on what the robot does by itself. Its mode is stored with the heartbeats; a new one at once. */
  function reportAutonomy(connection: RobotConnection, frame: Autonomy): void {
    const isChange = frame.mode !== connection.autonomy?.mode
    goals.report(connection, frame)
    if (isChange && connection.lastHeartbeatMs > 0) enqueueHeartbeat(connection)
  }

  /** Accepts a log line. One without a message is answered with an error, and does not count as malformed. */
  function logLine(connection: RobotConnection, value: object, nowMs: number): void {
    connection.recordWellFormed()
    const line = logLineOf(value)
    if (line) acceptLogLine(connection, line, nowMs)
    else
      connection.sendIfFlowing(errorFrame('message: A log line needs a message. Send it as a string.'), nowMs)
  }

  function readOther(connection: RobotConnection, value: TextFrame, nowMs: number): void {
    if (!robotFrameTypes.has(value.type)) return // newer robots may send types that this gateway does not know
    const parsed = RobotFrame.safeParse(value, parseOptions)
    if (!parsed.success) return connection.malformed(readableIssues(parsed.error), nowMs, namedEpisode(value))
    connection.recordWellFormed()
    const frame = parsed.data
    if (frame.type === 'stopped') connection.controlSession?.stops.confirm()
    else if (frame.type === 'autonomy') reportAutonomy(connection, frame)
    else if (frame.type === 'episode') acceptEpisode(connection, frame, nowMs)
    else if (frame.type === 'channel_offer') channelOffers.offer(connection, frame.sdp, channelReader)
  }

  /** Reads one message of the data channel: acknowledgements and probes. Ignores others. */
  function readChannel(connection: RobotConnection, data: string | Uint8Array): void {
    const nowMs = clockMs()
    if (!acceptFrame(connection, data, nowMs) || typeof data !== 'string') return
    const startedMs = frameTime.nowMs()
    readChannelText(connection, data, nowMs)
    frameTime.charge(connection, startedMs, data.length, 'robot:channel')
  }

  function readChannelText(connection: RobotConnection, data: string, nowMs: number): void {
    const value = parseFrame(data)
    if (typeof value === 'string') return connection.malformed(value, nowMs)
    const roundTripMs = readProbe(connection, value)
    if (typeof roundTripMs === 'number') onRoundTrip(connection, roundTripMs)
    else if (value.type === 'ack' && isAck(value)) controlRelay.ack(connection, value.seq)
  }

  const channelReader: ChannelReader<RobotConnection> = {
    answered: (connection) => connection.ordered.beginNumbering(),
    message: guard.untimed('robot:channel', readChannel, (connection) => connection.close('internalError')),
  }

  /** Returns false for a frame that must not be read, after answering the peer. */
  function acceptFrame(
    connection: RobotConnection,
    frame: string | ArrayBuffer | Uint8Array,
    nowMs: number,
  ): boolean {
    counts.frames++
    const bytes = typeof frame === 'string' ? frame.length : frame.byteLength
    if (!connection.acceptFrame(bytes, nowMs, stallClock.backlogMs(nowMs))) return false
    return frameTime.accepts(connection, frame, nowMs)
  }

  return {
    /** Frames since the start of this process. */
    counts: counts as Readonly<typeof counts>,

    /** Reads one text frame of an admitted connection. */
    read(connection: RobotConnection, text: string, nowMs: number): void {
      const plain = readPlainHeartbeat(text)
      if (plain) return heartbeat(connection, plain, nowMs)
      const value = parseFrame(text)
      // Telemetry never closes a robot. The depth is known before the type.
      if (value === TOO_DEEP || value === NO_JSON_TELEMETRY)
        return void connection.sendIfFlowing(errorFrame(value), nowMs)
      if (typeof value === 'string') return connection.malformed(value, nowMs)
      if (value.type === 'heartbeat') return heartbeat(connection, value, nowMs)
      if (value.type === 'ack' && isAck(value)) {
        connection.recordWellFormed()
        return controlRelay.ack(connection, value.seq)
      }
      if (value.type === 'telemetry') {
        connection.recordWellFormed()
        return controlRelay.telemetry(connection, text, 't' in value ? value.t : undefined) // its data is between the robot and the participants
      }
      if (value.type === 'log') return logLine(connection, value, nowMs)
      readOther(connection, value, nowMs)
    },

    /** Relays a binary frame, which is telemetry, byte for byte. */
    readBinary(connection: RobotConnection, data: ArrayBuffer, nowMs: number): void {
      const isTelemetry =
        data.byteLength >= BINARY_HEADER_BYTES && new DataView(data).getUint8(0) === BINARY_TELEMETRY
      if (!isTelemetry)
        return connection.malformed('A binary frame of a robot is of kind 2, after 16 bytes', nowMs)
      connection.recordWellFormed()
      controlRelay.telemetry(connection, data, new DataView(data).getFloat64(CLOCK_AT))
    },

    acceptFrame,
  }
}
export type RobotFrames = ReturnType<typeof createRobotFrames>

const errorFrame = (message: string) => JSON.stringify({ type: 'error', message })

/** Returns the episode that a malformed frame names, so that its robot does not send it again. */
function namedEpisode(value: TextFrame): { episode_id: string } | undefined {
  if (value.type !== 'episode' || !('episode_id' in value)) return undefined
  const id = EpisodeId.safeParse(value.episode_id)
  return id.success ? { episode_id: id.data } : undefined
}

function isAck(value: object): value is { seq: number } {
  return 'seq' in value && isSequence(value.seq)
}

function isSequence(seq: unknown): seq is number {
  return Number.isSafeInteger(seq) && (seq as number) >= 0
}

/** A heartbeat with its fields in the documented order, with or without a space between them. */
const HEARTBEAT =
  /^\{"type": ?"heartbeat"(?:, ?"seq": ?(0|[1-9]\d{0,14}))?(?:, ?"battery": ?([01](?:\.\d{1,20})?))?\}$/

/** The content of a heartbeat that the gateway reads. */
export interface Heartbeat {
  readonly seq?: unknown
  readonly battery?: unknown
}

/** Reads a heartbeat without parsing JSON, because there are thousands in a second. Returns undefined for every other frame. */
export function readPlainHeartbeat(text: string): Heartbeat | undefined {
  const match = HEARTBEAT.exec(text)
  if (match === null) return undefined
  const [, seq, battery] = match
  return {
    ...(seq !== undefined && { seq: Number(seq) }),
    ...(battery !== undefined && { battery: Number(battery) }),
  }
}
