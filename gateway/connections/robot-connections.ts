import type { Log } from '../../src/core/log.ts'
import type { ConnectResult, Presence } from '../../src/modules/presence/index.ts'
import { latchedStop, robotSession } from '../control/control-session.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'
import type { RobotConnection } from './robot-connection.ts'
import type { RobotFrames } from './robot-frames.ts'
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
export function createRobotConnections(deps: {
  presence: Presence
  frames: RobotFrames
  sessionRegistry: ControlSessionRegistry
  wheel: TimerWheel<RobotConnection>
  settings: RobotSettings
  log: Log
  startedAtMs: number
  clockMs: () => number
  /** Robots in sessions are on their way to another gateway, where their next epoch replaces the one here. */
  isHandingOver: () => boolean
}) {
  const { presence, frames, sessionRegistry, wheel, settings, log, startedAtMs, clockMs, isHandingOver } =
    deps
  /** The connection that speaks for its robot. */
  const current = new Map<string, RobotConnection>()
  /** Open sockets that wait to be let in, and since when. Every other open socket is a current one. */
  const pendingAdmissions = new Map<RobotConnection, number>()

  async function admit(connection: RobotConnection): Promise<void> {
    pendingAdmissions.set(connection, clockMs())
    const connected = await presence
      .connect({
        robotId: connection.robotId,
        tokenVersion: connection.tokenVersion,
        atMs: startedAtMs + connection.lastSignMs,
        isOpen: () => connection.open,
      })
      .finally(() => pendingAdmissions.delete(connection))
    if (!connected) return connection.close('credentialRevoked')
    connection.epoch = connected.epoch
    if (!connection.open) return recordDisconnect(connection) // gone while the database answered
    const before = current.get(connection.robotId)
    // Answers may come in another order than sockets opened; the higher epoch is the newer connection.
    if (before && before.epoch > connection.epoch) return connection.close('replaced')
    current.set(connection.robotId, connection)
    welcome(connection, connected.session, before) // takes over what is known of the session, which may be newer
    before?.close('replaced')
  }

  function welcome(
    connection: RobotConnection,
    open: ConnectResult['session'],
    before: RobotConnection | undefined,
  ): void {
    connection.lastSignMs = clockMs() // what it owes, it owes from here on
    const controlSession = sessionRegistry.onRobotConnected(connection, open, before)
    const frame = {
      type: 'welcome',
      robot_id: connection.robotId,
      epoch: connection.epoch,
      heartbeat_interval_ms: settings.heartbeatIntervalMs,
      heartbeat_timeout_ms: settings.heartbeatTimeoutMs,
      deadman_ms: settings.deadmanMs,
      session: controlSession && robotSession(controlSession.session),
      stop: latchedStop(controlSession?.stop ?? null),
    }
    connection.send(JSON.stringify(frame), connection.lastSignMs)
    const earlyFrames = connection.earlyFrames ?? []
    connection.earlyFrames = undefined
    for (const text of earlyFrames) if (connection.open) frames.read(connection, text, clockMs())
  }

  /** Writes the end of a connection that had been let in. */
  function recordDisconnect(connection: RobotConnection): void {
    presence
      .disconnect({
        robotId: connection.robotId,
        epoch: connection.epoch,
        lastSignMs: startedAtMs + connection.lastSignMs,
        lastHeartbeatMs: connection.lastHeartbeatMs === 0 ? 0 : startedAtMs + connection.lastHeartbeatMs,
        battery: connection.battery < 0 ? null : connection.battery,
        batteryMs: connection.battery < 0 ? null : startedAtMs + connection.batteryMs,
      })
      .catch((cause) =>
        log.error({ err: cause, robotId: connection.robotId }, 'end of a connection not written'),
      )
  }

  return {
    current: (robotId: string) => current.get(robotId),
    get size() {
      return current.size + pendingAdmissions.size
    },
    /** Every open socket. */
    *all(): Iterable<RobotConnection> {
      yield* pendingAdmissions.keys()
      yield* current.values()
    },

    /** Sends away who has waited too long to be let in. Call it again and again. */
    expirePendingAdmissions(): void {
      const nowMs = clockMs()
      for (const [connection, sinceMs] of pendingAdmissions) {
        if (nowMs - sinceMs > WAITING_LIMIT_MS) connection.close('draining')
      }
    },

    /** A robot said nothing for the whole timeout. One that is not welcome yet owes nothing. */
    onSilence(connection: RobotConnection): void {
      if (connection.epoch > 0) return connection.terminate()
      connection.lastSignMs = clockMs()
      wheel.add(connection, connection.lastSignMs)
    },

    opened(connection: RobotConnection): void {
      connection.earlyFrames = []
      wheel.add(connection, clockMs())
      admit(connection).catch((cause) => {
        log.warn({ err: cause, robotId: connection.robotId }, 'robot not let in')
        connection.close('draining')
      })
    },

    message(connection: RobotConnection, data: ArrayBuffer, isBinary: boolean): void {
      const nowMs = clockMs()
      connection.lastSignMs = nowMs
      if (!frames.acceptFrame(connection, data.byteLength, nowMs)) return
      if (isBinary) return frames.readBinary(connection, data, nowMs)
      const text = Buffer.from(data).toString() // copied: uWebSockets takes the memory back
      if (connection.earlyFrames === undefined) return frames.read(connection, text, nowMs)
      if (connection.earlyFrames.length >= MAX_EARLY_FRAMES) connection.earlyFrames.shift()
      connection.earlyFrames.push(text)
    },

    closed(connection: RobotConnection): void {
      connection.detach()
      pendingAdmissions.delete(connection)
      if (current.get(connection.robotId) === connection) current.delete(connection.robotId)
      const handedOver = connection.controlSession !== null && isHandingOver()
      sessionRegistry.onRobotDisconnected(connection)
      if (connection.epoch > 0 && !handedOver) recordDisconnect(connection)
    },
  }
}
export type RobotConnections = ReturnType<typeof createRobotConnections>
