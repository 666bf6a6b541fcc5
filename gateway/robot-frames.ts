import {
  BINARY_HEADER_BYTES,
  BINARY_TELEMETRY,
  type Episode,
  EpisodeId,
  RobotFrame,
  robotFrameTypes,
} from '@wheelhouse/protocol'
import { readableIssues } from '../src/core/errors/errors.ts'
import { plainly } from '../src/core/http/plain-issues.ts'
import { type BatteryFeed, chargeOf } from './battery-feed.ts'
import { parseFrame, type TextFrame, TOO_DEEP } from './parse-frame.ts'
import type { Relay } from './relay.ts'
import type { RobotLink } from './robot-link.ts'
import { type LogLine, logLineOf } from './robot-logs.ts'

/** Reads what robots send. Every frame is a sign of life; a heartbeat is also noted for the database. */
export function createRobotFrames(parts: {
  noteBeat: (link: RobotLink) => void
  takeEpisode: (link: RobotLink, episode: Episode, nowMs: number) => void
  takeLogLine: (link: RobotLink, line: LogLine, nowMs: number) => void
  relay: Relay
  battery: BatteryFeed
  startedAtMs: number
}) {
  const { noteBeat, takeEpisode, takeLogLine, relay, battery, startedAtMs } = parts
  const counts = { frames: 0, heartbeats: 0 }

  /** Every heartbeat counts, whatever its fields contain: it proves that the robot works. */
  function heartbeat(link: RobotLink, value: object, nowMs: number): void {
    const { seq, battery: charge } = value as { seq?: unknown; battery?: unknown }
    counts.heartbeats++
    link.lastBeatMs = nowMs
    link.malformedFrames = 0
    if (charge !== undefined) battery.report(link, chargeOf(charge), nowMs)
    noteBeat(link)
    const echoed = isSequence(seq) ? String(seq) : 'null'
    link.sendIfFlowing(`{"type":"heartbeat_ack","seq":${echoed},"t":${startedAtMs + nowMs}}`, nowMs)
  }

  /** Takes a log line; one without a text is answered with an error and does not count as malformed. */
  function logLine(link: RobotLink, value: object, nowMs: number): void {
    link.malformedFrames = 0
    const line = logLineOf(value)
    if (line) takeLogLine(link, line, nowMs)
    else link.sendIfFlowing(errorFrame('message: a log line needs a text'), nowMs)
  }

  /** It need not be told of its latched stop again. */
  function stands(link: RobotLink): void {
    if (link.drive) link.drive.stopSentMs = 0
  }

  function other(link: RobotLink, value: TextFrame, nowMs: number): void {
    if (!robotFrameTypes.has(value.type)) return // newer robots may say more than this gateway understands
    const parsed = RobotFrame.safeParse(value, plainly)
    if (!parsed.success) return link.malformed(readableIssues(parsed.error), nowMs, namedEpisode(value))
    link.malformedFrames = 0
    const frame = parsed.data
    if (frame.type === 'stopped') stands(link)
    else if (frame.type === 'episode') takeEpisode(link, frame, nowMs)
  }

  return {
    /** What has come since the start of this process. */
    counts: counts as Readonly<typeof counts>,

    /** Handles one frame of a connection that the database has let in. */
    read(link: RobotLink, text: string, nowMs: number): void {
      const value = parseFrame(text)
      // Telemetry that grew too deep must not close a robot; the depth is known before the type is.
      if (value === TOO_DEEP) return void link.sendIfFlowing(errorFrame(TOO_DEEP), nowMs)
      if (typeof value === 'string') return link.malformed(value, nowMs)
      if (value.type === 'heartbeat') return heartbeat(link, value, nowMs)
      if (value.type === 'ack' && isAck(value)) {
        link.malformedFrames = 0
        return relay.ack(link, value.seq)
      }
      if (value.type === 'telemetry') {
        link.malformedFrames = 0
        return relay.telemetry(link, text) // whatever its data are: they are between the robot and who watches
      }
      if (value.type === 'log') return logLine(link, value, nowMs)
      other(link, value, nowMs)
    },

    /** A binary frame is telemetry, passed on byte for byte. */
    readBinary(link: RobotLink, data: ArrayBuffer, nowMs: number): void {
      const isTelemetry =
        data.byteLength >= BINARY_HEADER_BYTES && new DataView(data).getUint8(0) === BINARY_TELEMETRY
      if (!isTelemetry) return link.malformed('A binary frame of a robot is of kind 2, after 16 bytes', nowMs)
      link.malformedFrames = 0
      relay.telemetry(link, data)
    },

    /** False when the frame must not be read; its peer has been told. */
    admit(link: RobotLink, bytes: number, nowMs: number): boolean {
      counts.frames++
      return link.admit(bytes, nowMs)
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
