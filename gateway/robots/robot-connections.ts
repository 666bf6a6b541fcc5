import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { ConnectResult, Presence } from '../../src/modules/presence/index.ts'
import type { GatewayClock } from '../base/clock.ts'
import type { FrameTime } from '../base/frame-time.ts'
import { createTimerWheel } from '../base/timer-wheel.ts'
import type { ChannelOffers } from '../channel/channel-offers.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'
import { latchedStop, robotSession } from '../control/session-frames.ts'
import type { RobotConnection } from './robot-connection.ts'
import type { RobotFrames } from './robot-frames.ts'

/** How long a robot waits for its admission before the gateway asks it to reconnect. */
const ADMISSION_LIMIT_MS = 10_000

export interface RobotSettings {
  readonly heartbeatIntervalMs: number
  readonly heartbeatTimeoutMs: number
  readonly deadmanMs: number
  /** The public origin of the REST API, at which robots publish cameras. */
  readonly apiUrl: string
}

/** The open sockets of robots at this gateway. Only `createRobotConnections` changes them. */
export class ConnectedRobots {
  /** The admitted connection of each robot. */
  readonly admitted = new Map<string, RobotConnection>()
  /** Open sockets that wait for their admission, and since when. Every other open socket is in `admitted`. */
  readonly pendingAdmissions = new Map<RobotConnection, number>()
  /** Admitted connections that wait for their next epoch. */
  readonly readmissions = new Set<RobotConnection>()

  get size(): number {
    return this.admitted.size + this.pendingAdmissions.size
  }

  /** Returns the admitted connection of a robot. */
  of(robotId: string): RobotConnection | undefined {
    return this.admitted.get(robotId)
  }

  /** Returns every open connection. */
  *all(): Iterable<RobotConnection> {
    yield* this.pendingAdmissions.keys()
    yield* this.admitted.values()
  }

  /** Returns whether an open socket of the robot waits for its admission. */
  isAdmitting(robotId: string): boolean {
    for (const pending of this.pendingAdmissions.keys()) if (pending.robotId === robotId) return true
    return false
  }
}

/** Manages the connections of robots, from the open socket to its end. */
export function createRobotConnections(deps: {
  connected: ConnectedRobots
  presence: Presence
  frames: RobotFrames
  frameTime: FrameTime
  channelOffers: ChannelOffers
  sessionRegistry: ControlSessionRegistry
  guard: Guard
  /** How often `terminateSilent` is called. */
  wheelTickMs: number
  /** Schedules a lookup of these robots. */
  requestLookup: (robotIds: Iterable<string>) => void
  settings: RobotSettings
  log: Log
  unixMs: GatewayClock['unixMs']
  clockMs: () => number
  isDraining: () => boolean
  /** Whether robots in sessions are handed over to another gateway, where their next epoch replaces the one here. */
  isHandingOver: () => boolean
}) {
  const { connected, presence, frames, sessionRegistry, guard, wheelTickMs, requestLookup, settings, log } =
    deps
  const { channelOffers, frameTime } = deps
  const { unixMs, clockMs, isDraining, isHandingOver } = deps
  const { admitted, pendingAdmissions, readmissions } = connected
  const wheel = createTimerWheel<RobotConnection>({
    timeoutMs: settings.heartbeatTimeoutMs,
    tickMs: wheelTickMs,
    onSilent: guard.handler('robot:silent', terminateSilent, (connection) => connection.terminate()),
  })

  async function admit(connection: RobotConnection): Promise<void> {
    pendingAdmissions.set(connection, clockMs())
    let result: ConnectResult | undefined
    try {
      result = await presence.connect({
        robotId: connection.robotId,
        tokenVersion: connection.tokenVersion,
        atMs: unixMs(connection.lastSignMs),
        isOpen: () => connection.open,
      })
    } finally {
      pendingAdmissions.delete(connection)
    }
    if (!result) return connection.close('credentialRevoked')
    connection.admit(result)
    if (!connection.open) return recordDisconnect(connection) // closed while the database answered
    const replaced = admitted.get(connection.robotId)
    // The database may answer in another order than sockets opened; the higher epoch is the newer connection.
    if (replaced && replaced.epoch > connection.epoch) return connection.close('replaced')
    admitted.set(connection.robotId, connection)
    welcome(connection, result.session, replaced) // before the close: the session may be newer here
    replaced?.close('replaced')
    // A stop or a revocation may be newer than this answer, and its hint came before the robot was known here.
    requestLookup([connection.robotId])
  }

  /**
   * Opens the next epoch for a connection that the database has closed while its socket stayed open: this gateway stalled, or lost
   * the database, until it counted as dead. A robot that is silent waits for its next sign of life. The lookup afterwards
   * applies what happened to the session; without a new epoch it finds the newer connection, or the revoked token.
   */
  async function readmit(connection: RobotConnection): Promise<void> {
    if (isDraining()) return connection.close('draining')
    const { robotId, tokenVersion, epoch, lastSignMs } = connection
    if (readmissions.has(connection) || clockMs() - lastSignMs > settings.heartbeatTimeoutMs) return
    readmissions.add(connection)
    try {
      const request = { robotId, tokenVersion, atMs: unixMs(lastSignMs), closedEpoch: epoch }
      const result = await presence.connect({ ...request, isOpen: () => connection.open })
      if (result) connection.admit(result)
      if (result && !connection.open) recordDisconnect(connection)
    } finally {
      readmissions.delete(connection)
    }
    requestLookup([robotId])
  }

  function welcome(
    connection: RobotConnection,
    session: ConnectResult['session'],
    replaced: RobotConnection | undefined,
  ): void {
    const nowMs = clockMs()
    connection.recordSign(nowMs) // the heartbeat timeout begins with the welcome
    const controlSession = sessionRegistry.onRobotConnected(connection, session, replaced)
    const frame = {
      type: 'welcome',
      robot_id: connection.robotId,
      epoch: connection.epoch,
      heartbeat_interval_ms: settings.heartbeatIntervalMs,
      heartbeat_timeout_ms: settings.heartbeatTimeoutMs,
      deadman_ms: settings.deadmanMs,
      whip_url: `${settings.apiUrl}/api/robots/${connection.robotId}/whip`,
      session: controlSession && robotSession(controlSession.session),
      stop: latchedStop(controlSession?.stops.current ?? null),
      ...(controlSession?.speed.enabled && { limits: controlSession.speed.limits }),
    }
    connection.send(JSON.stringify(frame), nowMs)
    controlSession?.tellRobotLease(nowMs)
    channelOffers.announce(connection)
    for (const text of connection.takeEarlyFrames())
      if (connection.open) frames.read(connection, text, clockMs())
  }

  /** Terminates a robot that was silent for the whole timeout. Before its welcome a robot owes no heartbeat. */
  function terminateSilent(connection: RobotConnection): void {
    if (connection.epoch > 0) return connection.terminate()
    connection.recordSign(clockMs())
    wheel.add(connection, connection.lastSignMs)
  }

  /** Records the end of an admitted connection. */
  function recordDisconnect(connection: RobotConnection): void {
    presence
      .disconnect({
        robotId: connection.robotId,
        epoch: connection.epoch,
        lastSignMs: unixMs(connection.lastSignMs),
        lastHeartbeatMs: connection.lastHeartbeatMs === 0 ? 0 : unixMs(connection.lastHeartbeatMs),
        battery: connection.battery < 0 ? null : connection.battery,
        batteryMs: connection.battery < 0 ? null : unixMs(connection.batteryMs),
      })
      .catch((cause) =>
        log.error(
          { err: cause, robotId: connection.robotId },
          'failed to record the end of a robot connection',
        ),
      )
  }

  return {
    /** Closes connections that have waited too long for their admission. Call it periodically. */
    expirePendingAdmissions(): void {
      const nowMs = clockMs()
      for (const [connection, sinceMs] of pendingAdmissions) {
        if (nowMs - sinceMs > ADMISSION_LIMIT_MS) connection.close('draining')
      }
    },

    /** Terminates robots that have been silent for the whole timeout. Call it every `wheelTickMs`. */
    terminateSilent: (nowMs: number): void => wheel.advance(nowMs),

    opened(connection: RobotConnection): void {
      wheel.add(connection, clockMs())
      admit(connection).catch((cause) => {
        log.warn({ err: cause, robotId: connection.robotId }, 'failed to admit a robot')
        connection.close('draining')
      })
    },

    /** Continues a connection that the database has closed while its socket stayed open. */
    readmit(connection: RobotConnection): void {
      readmit(connection).catch((cause) =>
        log.warn(
          { err: cause, robotId: connection.robotId },
          'failed to readmit a robot; its next heartbeat retries',
        ),
      )
    },

    message(connection: RobotConnection, data: ArrayBuffer, isBinary: boolean): void {
      const nowMs = clockMs()
      connection.recordSign(nowMs)
      if (!frames.acceptFrame(connection, data, nowMs)) return
      const startedMs = frameTime.nowMs()
      if (isBinary) frames.readBinary(connection, data, nowMs)
      else {
        const text = Buffer.from(data).toString() // copied: uWebSockets reuses the memory
        if (!connection.bufferEarlyFrame(text)) frames.read(connection, text, nowMs)
      }
      frameTime.charge(connection, startedMs, data.byteLength, 'robot:message')
    },

    closed(connection: RobotConnection): void {
      connection.detach()
      pendingAdmissions.delete(connection)
      if (admitted.get(connection.robotId) === connection) admitted.delete(connection.robotId)
      const handedOver = connection.controlSession !== null && isHandingOver()
      sessionRegistry.onRobotDisconnected(connection)
      if (connection.epoch > 0 && !handedOver) recordDisconnect(connection)
    },
  }
}
