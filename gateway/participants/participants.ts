import type { CloseReason } from '@wheelhouse/protocol'
import pTimeout from 'p-timeout'
import type { Log } from '../../src/core/log.ts'
import type {
  ControlPersistence,
  TicketClaims,
  TicketStore,
  TicketVerdict,
} from '../../src/modules/sessions/index.ts'
import type { ChannelOffers } from '../channel/channel-offers.ts'
import type { ControlSession } from '../control/control-session.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'
import type { Goals } from '../control/goals.ts'
import { sendLimits } from '../control/speed-envelope.ts'
import type { Stops } from '../control/stops.ts'
import type { BatteryFeed } from '../writer/battery-feed.ts'
import type { ParticipantConnection } from './participant-connection.ts'
import type { ParticipantFrames } from './participant-frames.ts'

/** How long a connection may wait for its admission. Until then only its `stop` counts. */
const ADMISSION_LIMIT_MS = 5_000
/** Interval between attempts of an admission while the database does not answer. */
const RETRY_MS = 500
/** How long the first operator of a session waits for the database at most. */
const RECORD_LIMIT_MS = 1_000

/** Why a connection is closed whose ticket is no longer valid. */
const closeReasons = {
  credential_ended: 'credentialRevoked',
  permissions_changed: 'ticketVoid',
  superseded: 'ticketVoid',
} as const satisfies Record<Exclude<TicketVerdict, 'valid'>, CloseReason>

/** Manages the connections of operators and observers, from the open socket to its end. */
export function createParticipants(deps: {
  sessionRegistry: ControlSessionRegistry
  frames: ParticipantFrames
  battery: BatteryFeed
  goals: Pick<Goals, 'sendTo'>
  /** Stops the robot on behalf of a participant. */
  requestStop: Stops['requestStop']
  verdictOf: TicketStore['verdictOf']
  /** Returns whether this process knows a revocation of the ticket. */
  isRevoked: (ticketClaims: TicketClaims) => boolean
  /** Looks up the robots that changed lately. Throws if the database is unavailable. */
  pollChanges: () => Promise<void>
  controlPersistence: Pick<ControlPersistence, 'recordJoin'>
  channelOffers: ChannelOffers
  log: Log
  clockMs: () => number
  /** How long a participant may give no sign of life; a pong of its library is one. */
  silenceLimitMs: number
}) {
  const { sessionRegistry, frames, battery, goals, requestStop, verdictOf, isRevoked, pollChanges } = deps
  const { controlPersistence, channelOffers, log, clockMs, silenceLimitMs } = deps
  const connections = new Set<ParticipantConnection>()
  let count = 0
  let refused = 0

  /** Returns the session of a ticket. Polls for it if it is unknown: it may have just begun. */
  async function find(sessionId: string): Promise<ControlSession | undefined> {
    const known = sessionRegistry.of(sessionId)
    if (known) return known
    await pollChanges()
    return sessionRegistry.of(sessionId)
  }

  /**
   * Records the first operator of a session before the first frame may pass: the database may have paused the session
   * for lack of an operator, and this gateway must know that. While the database is unavailable, the operator joins
   * nevertheless, and the session writer records it later.
   */
  async function recordFirstJoin(controlSession: ControlSession): Promise<ControlSession | undefined> {
    const { id } = controlSession.session
    const record = async () => {
      const eventSeq = await controlPersistence.recordJoin(id)
      if (eventSeq === undefined || eventSeq > controlSession.session.eventSeq) await pollChanges()
      controlSession.markDriven()
    }
    await pTimeout(record(), {
      milliseconds: RECORD_LIMIT_MS,
      message: 'the database did not record the operator in time',
    }).catch((cause) =>
      log.warn({ err: cause, sessionId: id }, 'first operator of a session not recorded yet; retrying'),
    )
    controlSession.noteOperatorJoined(clockMs()) // also if the operator has disconnected by now
    return sessionRegistry.of(id)
  }

  async function findAndRecordJoin(connection: ParticipantConnection): Promise<ControlSession | undefined> {
    const controlSession = await find(connection.ticketClaims.sessionId)
    const isOperator = connection.isOperator && connection.account === controlSession?.lease.holder?.user_id
    if (!controlSession || !isOperator || controlSession.hadOperator) return controlSession
    return await recordFirstJoin(controlSession)
  }

  /** Admits a connection if the database confirms its ticket. Before that, only a `stop` of it counts. */
  async function admit(connection: ParticipantConnection): Promise<void> {
    const verdict = await verdictOf(connection.ticketClaims)
    if (verdict !== 'valid') {
      connection.takeEarlyStop()
      refused++
      return connection.close(closeReasons[verdict])
    }
    const controlSession = await findAndRecordJoin(connection)
    if (!controlSession) return connection.close('robotMoved') // a new ticket names the gateway of the robot
    if (connection.open) join(connection, controlSession)
    requestEarlyStop(connection, controlSession)
  }

  /** Requests the stop that arrived before the connection was admitted. */
  function requestEarlyStop(
    connection: ParticipantConnection,
    controlSession: ControlSession | undefined,
  ): void {
    const earlyStop = connection.takeEarlyStop()
    if (!earlyStop || !controlSession) return
    requestStop(controlSession, { ...connection.requester, reason: earlyStop.reason })
  }

  /** Admits a connection, or schedules a retry if the database does not answer. */
  function tryAdmission(connection: ParticipantConnection): void {
    connection.beginAdmission()
    admit(connection).catch((cause) => {
      requestStopUnconfirmed(connection)
      if (clockMs() - connection.openedMs < ADMISSION_LIMIT_MS) {
        connection.scheduleRetry(clockMs() + RETRY_MS)
        return
      }
      log.warn({ err: cause, sessionId: connection.ticketClaims.sessionId }, 'failed to admit a participant')
      connection.close('draining')
    })
  }

  /** Stops the robot without the database: the ticket is signed, not known to be revoked, and a stop is safe. */
  function requestStopUnconfirmed(connection: ParticipantConnection): void {
    const controlSession = sessionRegistry.of(connection.ticketClaims.sessionId)
    // If the session is not known yet, the stop waits for the next attempt.
    if (controlSession && !isRevoked(connection.ticketClaims)) requestEarlyStop(connection, controlSession)
  }

  function refuse(connection: ParticipantConnection, message: string): void {
    connection.send(JSON.stringify({ type: 'error', message }), clockMs())
    connection.close('notAllowed')
  }

  function join(connection: ParticipantConnection, controlSession: ControlSession): void {
    const nowMs = clockMs()
    if (connection.isOperator) {
      const joined = controlSession.joinController(connection, nowMs)
      if (joined === 'older') return
      if (joined === 'full')
        return refuse(connection, 'The session has too many participants. Try again later.')
    } else if (!controlSession.joinObserver(connection))
      return refuse(connection, 'The session has too many observers. Try again later.')
    connection.send(controlSession.stateFrame(), nowMs)
    controlSession.tellLease(connection, nowMs)
    sendLimits(controlSession, connection, nowMs)
    battery.sendTo(connection, nowMs)
    goals.sendTo(connection)
    if (connection.isOperator) channelOffers.announce(connection)
  }

  return {
    get size() {
      return connections.size
    },
    /** The number of connections that were closed because their tickets were no longer valid. */
    get refused() {
      return refused
    },
    all: (): Iterable<ParticipantConnection> => connections,

    opened(connection: ParticipantConnection): void {
      connection.assignNumber(++count)
      connections.add(connection)
      tryAdmission(connection)
    },

    message(connection: ParticipantConnection, data: ArrayBuffer, isBinary: boolean): void {
      connection.recordSign(clockMs())
      frames.read(connection, data, isBinary)
      // A stop does not wait for the database.
      if (connection.hasEarlyStop) requestStopUnconfirmed(connection)
    },

    /** Removes a connection. Halts the robot of an operator first, in case a later step fails. */
    closed(connection: ParticipantConnection): void {
      connection.detach()
      connections.delete(connection)
      const { controlSession } = connection
      if (!controlSession) return
      controlSession.leave(connection, clockMs())
      sessionRegistry.removeIfAbandoned(controlSession)
    },

    /** Retries admissions, and requests stops that wait for one. Call it periodically. */
    retryAdmissions(): void {
      const nowMs = clockMs()
      for (const connection of connections) {
        if (connection.hasEarlyStop) requestStopUnconfirmed(connection)
        if (connection.isRetryDue(nowMs)) tryAdmission(connection)
      }
    },

    /** Terminates connections that have been silent for too long: they count as dead. Call it periodically. */
    terminateSilent(): void {
      const nowMs = clockMs()
      for (const connection of connections) {
        const limitMs = connection.controlSession
          ? silenceLimitMs
          : Math.max(silenceLimitMs, ADMISSION_LIMIT_MS)
        if (nowMs - connection.lastSignMs > limitMs) connection.terminate()
      }
    },

    /** Closes all connections whose tickets were issued to one of these API keys or sign-ins. */
    revoke(credentialIds: readonly string[]): void {
      for (const connection of connections) {
        const { credentialId } = connection
        if (credentialId !== undefined && credentialIds.includes(credentialId))
          connection.close('credentialRevoked')
      }
    },

    /** Closes the connections of a suspended user. Connections with later permissions were admitted after the suspension. */
    suspend(userId: string, permissionsVersion: number): void {
      for (const connection of connections) {
        const { ticketClaims } = connection
        if (ticketClaims.userId === userId && ticketClaims.permissionsVersion < permissionsVersion)
          connection.close('notAllowed')
      }
    },

    /** Returns all connections. */
    connected: (): ParticipantConnection[] => [...connections],

    /** Returns the API keys and sign-ins to which the tickets of the connections were issued. */
    credentials: (): string[] => [
      ...new Set([...connections].flatMap(({ credentialId }) => credentialId ?? [])),
    ],
  }
}
export type Participants = ReturnType<typeof createParticipants>
