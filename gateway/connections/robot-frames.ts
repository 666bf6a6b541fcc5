import {
  BINARY_HEADER_BYTES,
  BINARY_TELEMETRY,
  type Episode,
  EpisodeId,
  RobotFrame,
  robotFrameTypes,
} from '@wheelhouse/protocol'
import { readableIssues } from '../../src/core/errors/errors.ts'
import { parseOptions } from '../../src/core/http/validation-messages.ts'
import type { ControlRelay } from '../control/control-relay.ts'
import { type BatteryFeed, chargeOf } from '../persistence/battery-feed.ts'
import { type LogLine, logLineOf } from '../persistence/robot-logs.ts'
import { parseFrame, type TextFrame, TOO_DEEP } from './parse-frame.ts'
import type { RobotConnection } from './robot-connection.ts'

/** Reads what robots send. Every frame is a sign of life; a heartbeat is also noted for the database. */
export function createRobotFrames(deps: {
  enqueueHeartbeat: (connection: RobotConnection) => void
  takeEpisode: (connection: RobotConnection, episode: Episode, nowMs: number) => void
  takeLogLine: (connection: RobotConnection, line: LogLine, nowMs: number) => void
  controlRelay: ControlRelay
  battery: BatteryFeed
  startedAtMs: number
}) {
  const { enqueueHeartbeat, takeEpisode, takeLogLine, controlRelay, battery, startedAtMs } = deps
  const counts = { frames: 0, heartbeats: 0 }

  /** Every heartbeat counts, whatever its fields contain: it proves that the robot works. */
  function heartbeat(connection: RobotConnection, value: object, nowMs: number): void {
    const { seq, battery: charge } = value as { seq?: unknown; battery?: unknown }
    counts.heartbeats++
    connection.lastHeartbeatMs = nowMs
    connection.malformedFrames = 0
    if (charge !== undefined) battery.report(connection, chargeOf(charge), nowMs)
    enqueueHeartbeat(connection)
    const echoed = isSequence(seq) ? String(seq) : 'null'
    connection.sendIfFlowing(`{"type":"heartbeat_ack","seq":${echoed},"t":${startedAtMs + nowMs}}`, nowMs)
  }

  /** Takes a log line; one without a text is answered with an error and does not count as malformed. */
  function logLine(connection: RobotConnection, value: object, nowMs: number): void {
    connection.malformedFrames = 0
    const line = logLineOf(value)
    if (line) takeLogLine(connection, line, nowMs)
    else connection.sendIfFlowing(errorFrame('message: a log line needs a text'), nowMs)
  }

  /** It need not be told of its latched stop again. */
  function confirmHalt(connection: RobotConnection): void {
    if (connection.controlSession) connection.controlSession.stopSentMs = 0
  }

  function readOther(connection: RobotConnection, value: TextFrame, nowMs: number): void {
    if (!robotFrameTypes.has(value.type)) return // newer robots may say more than this gateway understands
    const parsed = RobotFrame.safeParse(value, parseOptions)
    if (!parsed.success) return connection.malformed(readableIssues(parsed.error), nowMs, namedEpisode(value))
    connection.malformedFrames = 0
    const frame = parsed.data
    if (frame.type === 'stopped') confirmHalt(connection)
    else if (frame.type === 'episode') takeEpisode(connection, frame, nowMs)
  }

  return {
    /** What has come since the start of this process. */
    counts: counts as Readonly<typeof counts>,

    /** Handles one frame of a connection that the database has let in. */
    read(connection: RobotConnection, text: string, nowMs: number): void {
      const value = parseFrame(text)
      // Telemetry that grew too deep must not close a robot; the depth is known before the type is.
      if (value === TOO_DEEP) return void connection.sendIfFlowing(errorFrame(TOO_DEEP), nowMs)
      if (typeof value === 'string') return connection.malformed(value, nowMs)
      if (value.type === 'heartbeat') return heartbeat(connection, value, nowMs)
      if (value.type === 'ack' && isAck(value)) {
        connection.malformedFrames = 0
        return controlRelay.ack(connection, value.seq)
      }
      if (value.type === 'telemetry') {
        connection.malformedFrames = 0
        return controlRelay.telemetry(connection, text) // whatever its data are: they are between the robot and who watches
      }
      if (value.type === 'log') return logLine(connection, value, nowMs)
      readOther(connection, value, nowMs)
    },

    /** A binary frame is telemetry, passed on byte for byte. */
    readBinary(connection: RobotConnection, data: ArrayBuffer, nowMs: number): void {
      const isTelemetry =
        data.byteLength >= BINARY_HEADER_BYTES && new DataView(data).getUint8(0) === BINARY_TELEMETRY
      if (!isTelemetry)
        return connection.malformed('A binary frame of a robot is of kind 2, after 16 bytes', nowMs)
      connection.malformedFrames = 0
      controlRelay.telemetry(connection, data)
    },

    /** False when the frame must not be read; its peer has been told. */
    acceptFrame(connection: RobotConnection, bytes: number, nowMs: number): boolean {
      counts.frames++
      return connection.acceptFrame(bytes, nowMs)
    },
  }
}
export type RobotFrames = ReturnType<typeof createRobotFrames>

const errorFrame = (message: string) => JSON.stringify({ type: 'error', message })

/** Which episode a malformed frame is about, so that its robot knows which one not to send again. */
function namedEpisode(value: TextFrame): { episode_id: string } | undefined {
  if (value.type !== 'episode' || !('episode_id' in value)) return undefined
  const id = EpisodeId.safeParse(value.episode_id)
  return id.success ? { episode_id: id.data } : undefined
}

function isAck(value: object): value is { seq: number } {
  return 'seq' in value && isSequence(value.seq)
}

function isSequence(seq: unknown): boolean {
  return Number.isSafeInteger(seq) && (seq as number) >= 0
}
