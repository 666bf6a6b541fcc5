import type { CloseReason } from '@wheelhouse/protocol'
import { withTimeout } from '../../src/core/concurrency/concurrency.ts'
import type { Log } from '../../src/core/log.ts'
import type { ControlPersistence, TicketStore, TicketVerdict } from '../../src/modules/sessions/index.ts'
import type { Revocations } from '../connections/revocations.ts'
import type { BatteryFeed } from '../persistence/battery-feed.ts'
import type { ControlSession } from './control-session.ts'
import type { ControlSessionRegistry } from './control-session-registry.ts'
import type { ParticipantConnection } from './participant-connection.ts'
import type { ParticipantFrames } from './participant-frames.ts'

/** People who look on at one session through one gateway. */
const MAX_OBSERVERS = 100
/** How long a link may wait for its admission, in which `stop` alone is kept. */
const ADMISSION_LIMIT_MS = 5_000
/** Between two tries of an admission that the database did not decide. */
const RETRY_MS = 500
/** How long the first operator of a session waits for the database at the most. */
const RECORD_LIMIT_MS = 1_000

/** How a link ends whose ticket is not valid any more. */
const closeReasons = {
  credential_ended: 'credentialRevoked',
  permissions_changed: 'ticketVoid',
  superseded: 'ticketVoid',
} as const satisfies Record<Exclude<TicketVerdict, 'valid'>, CloseReason>

/** Operators and watchers connected to this gateway, from the open socket to its end. */
export function createParticipants(deps: {
  sessionRegistry: ControlSessionRegistry
  frames: ParticipantFrames
  battery: BatteryFeed
  /** Halts the robot on behalf of a participant. */
  requestStop: (
    controlSession: ControlSession,
    connection: ParticipantConnection,
    reason: string | undefined,
  ) => void
  verdictOf: TicketStore['verdictOf']
  revocations: Revocations
  /** Looks up the robots that changed lately. Throws when the database is away. */
  pollChanges: () => Promise<void>
  driving: Pick<ControlPersistence, 'recordJoin'>
  log: Log
  clockMs: () => number
  /** From the last sign of life on, a pong of the peer's library included. */
  silenceLimitMs: number
}) {
  const { sessionRegistry, frames, battery, requestStop, verdictOf, revocations, pollChanges, driving, log } =
    deps
  const { clockMs, silenceLimitMs } = deps
  const connections = new Set<ParticipantConnection>()
  let count = 0
  let refused = 0

  /** The session of a ticket. One that has just begun may not have been heard of yet. */
  async function find(sessionId: string): Promise<ControlSession | undefined> {
    const known = sessionRegistry.of(sessionId)
    if (known) return known
    await pollChanges()
    return sessionRegistry.of(sessionId)
  }

  /**
   * Records the first operator of a session before the first frame may pass: the database decides whether the session
   * was paused for the want of one, and this gateway knows it when the operator joins. While the database is away, the
   * operator joins all the same; the session writer records it later.
   */
  async function recordFirstJoin(controlSession: ControlSession): Promise<ControlSession | undefined> {
    const { id } = controlSession.session
    const record = async () => {
      const eventSeq = await driving.recordJoin(id)
      if (eventSeq === undefined || eventSeq > controlSession.session.eventSeq) await pollChanges()
      controlSession.session = { ...controlSession.session, driven: true }
    }
    await withTimeout(RECORD_LIMIT_MS, 'the database does not answer', record()).catch((cause) =>
      log.warn({ err: cause, sessionId: id }, 'first operator not recorded yet'),
    )
    controlSession.operatorJoined = true
    sessionRegistry.attendance(controlSession) // also when the operator is gone by now
    return sessionRegistry.of(id)
  }

  async function findAndRecordJoin(connection: ParticipantConnection): Promise<ControlSession | undefined> {
    const controlSession = await find(connection.ticketClaims.sessionId)
    const isOperator =
      connection.isOperator && connection.ticketClaims.userId === controlSession?.session.operatorId
    if (!controlSession || !isOperator || controlSession.operatorJoined || controlSession.session.driven)
      return controlSession
    return await recordFirstJoin(controlSession)
  }

  /** Admits a link whose ticket the database confirms. Until then no frame of it counts but `stop`, which is kept. */
  async function admit(connection: ParticipantConnection): Promise<void> {
    const verdict = await verdictOf(connection.ticketClaims)
    if (verdict !== 'valid') {
      connection.earlyStop = null
      refused++
      return connection.close(closeReasons[verdict])
    }
    const controlSession = await findAndRecordJoin(connection)
    if (!controlSession) return connection.close('robotMoved') // another gateway has it, or soon will: fetch a new ticket
    if (connection.open) join(connection, controlSession)
    requestEarlyStop(connection, controlSession)
  }

  /** Carries out the stop that came before the link was admitted. */
  function requestEarlyStop(
    connection: ParticipantConnection,
    controlSession: ControlSession | undefined,
  ): void {
    const { earlyStop } = connection
    connection.earlyStop = null
    if (earlyStop && controlSession) requestStop(controlSession, connection, earlyStop.reason)
  }

  /** Admits a link, or has it tried again: the database may be away for a moment only. */
  function tryAdmission(connection: ParticipantConnection): void {
    connection.retryAtMs = 0
    admit(connection).catch((cause) => {
      requestStopUnconfirmed(connection)
      if (clockMs() - connection.openedMs < ADMISSION_LIMIT_MS) {
        connection.retryAtMs = clockMs() + RETRY_MS
        return
      }
      log.warn({ err: cause, sessionId: connection.ticketClaims.sessionId }, 'participant not admitted')
      connection.close('draining')
    })
  }

  /** Halts without the database: the ticket is signed, no revocation of it is known, and a halt is the safe side. */
  function requestStopUnconfirmed(connection: ParticipantConnection): void {
    const controlSession = sessionRegistry.of(connection.ticketClaims.sessionId)
    // A session that is not known yet keeps its stop for the next try.
    if (controlSession && !revocations.isRevoked(connection.ticketClaims))
      requestEarlyStop(connection, controlSession)
  }

  function join(connection: ParticipantConnection, controlSession: ControlSession): void {
    const nowMs = clockMs()
    if (connection.isOperator) {
      if (connection.ticketClaims.userId !== controlSession.session.operatorId)
        return connection.close('notAllowed')
      const before = controlSession.operator
      if (before && before.number > connection.number) return connection.close('replaced') // it took longer to be let in
      controlSession.setOperator(connection)
      if (before) {
        before.controlSession = null
        before.close('replaced')
      }
      sessionRegistry.attendance(controlSession)
    } else {
      if (controlSession.observers.size >= MAX_OBSERVERS) {
        connection.send('{"type":"error","message":"Too many people watch this session"}', nowMs)
        return connection.close('notAllowed')
      }
      controlSession.observers.add(connection)
    }
    connection.controlSession = controlSession
    connection.send(controlSession.stateFrame(), nowMs)
    battery.show(connection, nowMs)
  }

  return {
    get size() {
      return connections.size
    },
    /** Links that were closed because their tickets were not valid any more. */
    get refused() {
      return refused
    },
    all: (): Iterable<ParticipantConnection> => connections,

    opened(connection: ParticipantConnection): void {
      connection.number = ++count
      connections.add(connection)
      tryAdmission(connection)
    },

    message(connection: ParticipantConnection, data: ArrayBuffer, isBinary: boolean): void {
      connection.lastSignMs = clockMs()
      frames.read(connection, data, isBinary)
      // A stop waits for no database.
      if (connection.earlyStop) requestStopUnconfirmed(connection)
    },

    /** An operator who is gone stops the robot at once: first of all, whatever fails afterwards. */
    closed(connection: ParticipantConnection): void {
      connection.detach()
      connections.delete(connection)
      const { controlSession } = connection
      if (!controlSession) return
      if (controlSession.operator === connection) {
        controlSession.haltIfMoving('operator_lost', clockMs())
        controlSession.setOperator(null)
        sessionRegistry.attendance(controlSession)
        controlSession.broadcastState(clockMs())
      }
      connection.controlSession = null
      controlSession.observers.delete(connection)
      sessionRegistry.removeIfEmpty(controlSession)
    },

    /** Retries admissions, and carries out stops that wait for one for too long. Call it again and again. */
    retryAdmissions(): void {
      const nowMs = clockMs()
      for (const connection of connections) {
        if (connection.earlyStop) requestStopUnconfirmed(connection)
        if (connection.retryAtMs > 0 && nowMs >= connection.retryAtMs) tryAdmission(connection)
      }
    },

    /** Cuts off who has been silent for too long: their connection is dead, whatever it looks like. */
    terminateSilent(): void {
      const nowMs = clockMs()
      for (const connection of connections) {
        const limitMs = connection.controlSession
          ? silenceLimitMs
          : Math.max(silenceLimitMs, ADMISSION_LIMIT_MS)
        if (nowMs - connection.lastSignMs > limitMs) connection.terminate()
      }
    },

    /** Sends away everybody who came with one of these API keys. */
    revoke(apiKeyIds: readonly string[]): void {
      for (const connection of connections) {
        const { apiKeyId } = connection.ticketClaims
        if (apiKeyId !== undefined && apiKeyIds.includes(apiKeyId)) connection.close('credentialRevoked')
      }
    },

    observers: (): ParticipantConnection[] => [...connections].filter((connection) => !connection.isOperator),

    /** The API keys that people here came with. */
    apiKeys: (): string[] => [
      ...new Set([...connections].flatMap((connection) => connection.ticketClaims.apiKeyId ?? [])),
    ],
  }
}
export type Participants = ReturnType<typeof createParticipants>
