import type { Log } from '../src/core/log.ts'
import type { Presence } from '../src/modules/presence/presence.service.ts'
import type { Connected } from '../src/modules/presence/presence.store.ts'
import { latchedStop, robotSession } from './drive.ts'
import type { Drives } from './drives.ts'
import type { RobotFrames } from './robot-frames.ts'
import type { RobotLink } from './robot-link.ts'
import type { TimerWheel } from './timer-wheel.ts'

/** Frames kept for a connection that waits for the database; of more than that, the newest. */
const MAX_EARLY_FRAMES = 32
/** How long a robot waits to be let in before it is told to come again. */
const WAITING_LIMIT_MS = 10_000

export interface RobotSettings {
  readonly heartbeatIntervalMs: number
  readonly heartbeatTimeoutMs: number
  readonly deadmanMs: number
}

/** The robots connected to this gateway, from the open socket to its end. */
export function createRobotConnections(parts: {
  presence: Presence
  frames: RobotFrames
  drives: Drives
  wheel: TimerWheel<RobotLink>
  settings: RobotSettings
  log: Log
  startedAtMs: number
  clockMs: () => number
  /** Robots in sessions are on their way to another gateway, where their next epoch replaces the one here. */
  isHandingOver: () => boolean
}) {
  const { presence, frames, drives, wheel, settings, log, startedAtMs, clockMs, isHandingOver } = parts
  /** The connection that speaks for its robot. */
  const current = new Map<string, RobotLink>()
  /** Open sockets that wait to be let in, and since when. Every other open socket is a current one. */
  const waiting = new Map<RobotLink, number>()

  async function letIn(link: RobotLink): Promise<void> {
    waiting.set(link, clockMs())
    const connected = await presence
      .connect({
        robotId: link.robotId,
        tokenVersion: link.tokenVersion,
        atMs: startedAtMs + link.lastSignMs,
        isOpen: () => link.open,
      })
      .finally(() => waiting.delete(link))
    if (!connected) return link.close('credentialRevoked')
    link.epoch = connected.epoch
    if (!link.open) return farewell(link) // gone while the database answered
    const before = current.get(link.robotId)
    // Answers may come in another order than sockets opened; the higher epoch is the newer connection.
    if (before && before.epoch > link.epoch) return link.close('replaced')
    current.set(link.robotId, link)
    welcome(link, connected.session, before) // takes over what is known of the session, which may be newer
    before?.close('replaced')
  }

  function welcome(link: RobotLink, open: Connected['session'], before: RobotLink | undefined): void {
    link.lastSignMs = clockMs() // what it owes, it owes from here on
    const drive = drives.robotCame(link, open, before)
    const frame = {
      type: 'welcome',
      robot_id: link.robotId,
      epoch: link.epoch,
      heartbeat_interval_ms: settings.heartbeatIntervalMs,
      heartbeat_timeout_ms: settings.heartbeatTimeoutMs,
      deadman_ms: settings.deadmanMs,
      session: drive && robotSession(drive.session),
      stop: latchedStop(drive?.stop ?? null),
    }
    link.send(JSON.stringify(frame), link.lastSignMs)
    const early = link.early ?? []
    link.early = undefined
    for (const text of early) if (link.open) frames.read(link, text, clockMs())
  }

  /** Writes the end of a connection that had been let in. */
  function farewell(link: RobotLink): void {
    presence
      .disconnect({
        robotId: link.robotId,
        epoch: link.epoch,
        lastSignMs: startedAtMs + link.lastSignMs,
        lastHeartbeatMs: link.lastBeatMs === 0 ? 0 : startedAtMs + link.lastBeatMs,
        battery: link.battery < 0 ? null : link.battery,
        batteryMs: link.battery < 0 ? null : startedAtMs + link.batteryMs,
      })
      .catch((cause) => log.error({ err: cause, robotId: link.robotId }, 'end of a connection not written'))
  }

  return {
    current: (robotId: string) => current.get(robotId),
    get size() {
      return current.size + waiting.size
    },
    /** Every open socket. */
    *all(): Iterable<RobotLink> {
      yield* waiting.keys()
      yield* current.values()
    },

    /** Sends away who has waited too long to be let in. Call it again and again. */
    turnAway(): void {
      const nowMs = clockMs()
      for (const [link, sinceMs] of waiting) {
        if (nowMs - sinceMs > WAITING_LIMIT_MS) link.close('draining')
      }
    },

    /** A robot said nothing for the whole timeout. One that is not welcome yet owes nothing. */
    silent(link: RobotLink): void {
      if (link.epoch > 0) return link.cut()
      link.lastSignMs = clockMs()
      wheel.add(link, link.lastSignMs)
    },

    opened(link: RobotLink): void {
      link.early = []
      wheel.add(link, clockMs())
      letIn(link).catch((cause) => {
        log.warn({ err: cause, robotId: link.robotId }, 'robot not let in')
        link.close('draining')
      })
    },

    message(link: RobotLink, data: ArrayBuffer, isBinary: boolean): void {
      const nowMs = clockMs()
      link.lastSignMs = nowMs
      if (!frames.admit(link, data.byteLength, nowMs)) return
      if (isBinary) return frames.readBinary(link, data, nowMs)
      const text = Buffer.from(data).toString() // copied: uWebSockets takes the memory back
      if (link.early === undefined) return frames.read(link, text, nowMs)
      if (link.early.length >= MAX_EARLY_FRAMES) link.early.shift()
      link.early.push(text)
    },

    closed(link: RobotLink): void {
      link.detach()
      waiting.delete(link)
      if (current.get(link.robotId) === link) current.delete(link.robotId)
      const handedOver = link.drive !== null && isHandingOver()
      drives.robotGone(link)
      if (link.epoch > 0 && !handedOver) farewell(link)
    },
  }
}
export type RobotConnections = ReturnType<typeof createRobotConnections>
