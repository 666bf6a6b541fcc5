import type { StopReason } from '@wheelhouse/protocol'
import { singleFlight } from '../../src/core/concurrency/concurrency.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Log } from '../../src/core/log.ts'
import { type RevocationSources, watchRevocations } from '../../src/modules/identity/index.ts'
import type { ControlPersistence, TicketStore } from '../../src/modules/sessions/index.ts'
import { createRevocations } from '../connections/revocations.ts'
import type { RobotConnection } from '../connections/robot-connection.ts'
import type { BatteryFeed } from '../persistence/battery-feed.ts'
import { createSessionWriter } from '../persistence/session-writer.ts'
import { createControlRelay } from './control-relay.ts'
import type { ControlSession } from './control-session.ts'
import { createControlSessionRegistry } from './control-session-registry.ts'
import type { ParticipantConnection } from './participant-connection.ts'
import { createParticipantFrames } from './participant-frames.ts'
import { createParticipants } from './participants.ts'
import { createStops } from './stops.ts'

/** Parts of a measuring period. In each of them it is the turn of some sessions: a ping is a system call. */
export const MEASURE_SLOTS = 50

/** Everything that has to do with driving, put together. */
export function createControlSessionService(deps: {
  driving: ControlPersistence
  ticketStore: Pick<TicketStore, 'verdictOf'>
  accounts: Pick<RevocationSources, 'apiKeys' | 'users'>
  bus: Bus
  log: Log
  guard: Guard
  nodeId: string
  settings: {
    readonly deadmanMs: number
    readonly heartbeatTimeoutMs: number
    readonly operatorGraceMs: number
  }
  clockMs: () => number
  battery: BatteryFeed
  /** Looks these robots up soon. */
  requestLookup: (robotIds: Iterable<string>) => void
  /** Looks up what changed lately. Throws when the database is away. */
  pollChanges: () => Promise<void>
}) {
  const { driving, bus, log, guard, nodeId, settings, battery, clockMs, requestLookup, pollChanges } = deps
  const preciseMs = () => performance.now()
  const sessionRegistry = createControlSessionRegistry({
    nodeId,
    clockMs,
    onEnd: (controlSession) => sessionWriter.ended(controlSession),
  })
  const sessionWriter = createSessionWriter({
    driving,
    sessionRegistry,
    requestLookup,
    log,
    clockMs,
    operatorGraceMs: settings.operatorGraceMs,
  })
  const controlRelay = createControlRelay({ guard, deadmanMs: settings.deadmanMs, preciseMs, clockMs })
  /** One session that fails must not keep the others waiting. A robot that is cut off brakes, and comes back. */
  const repeatStop = guard.handler(
    'session:repeat-stop',
    (controlSession: ControlSession) => controlSession.repeatStop(clockMs()),
    (controlSession) => controlSession.robot?.close('internalError'),
  )
  const stops = createStops({ sessionRegistry, sessionWriter, clockMs })
  const requestStop = (
    controlSession: ControlSession,
    { ticketClaims }: ParticipantConnection,
    reason: string | undefined,
  ) => stops.press(controlSession, { userId: ticketClaims.userId, reason })
  const onStopFrame = (connection: ParticipantConnection, reason: string | undefined) => {
    if (connection.controlSession) requestStop(connection.controlSession, connection, reason)
  }
  const revocations = createRevocations(clockMs)
  const frames = createParticipantFrames({
    controlRelay,
    onStopFrame,
    deadmanMs: settings.deadmanMs,
    clockMs,
  })
  const participants = createParticipants({
    sessionRegistry,
    frames,
    battery,
    requestStop,
    revocations,
    pollChanges,
    driving,
    log,
    clockMs,
    verdictOf: deps.ticketStore.verdictOf,
    silenceLimitMs: settings.heartbeatTimeoutMs,
  })
  let measureSlot = 0

  /** Asks everybody for a pong, and tells those who take part how long the last ones took. */
  const measure = guard.handler('session:latency', (controlSession: ControlSession): void => {
    const { robot, operator } = controlSession
    controlSession.latencyRecorder.measure(preciseMs(), {
      robot: () => robot?.ping() ?? false,
      operator: () => operator?.ping() ?? false,
    })
    const frame = controlSession.latencyRecorder.frame(preciseMs())
    for (const participant of controlSession.participants()) {
      if (participant !== controlSession.operator) participant.ping()
      participant.sendIfFlowing(frame, clockMs())
    }
  })

  async function checkPermissions(): Promise<void> {
    const apiKeys = participants.apiKeys()
    if (apiKeys.length > 0) participants.revoke(await driving.endedKeys(apiKeys))
    const observers = participants.observers()
    if (observers.length === 0) return
    const revokedObservers = new Set(
      await driving.revokedObservers(observers.map(({ ticketClaims }) => ticketClaims)),
    )
    for (const connection of observers)
      if (revokedObservers.has(connection.ticketClaims)) connection.close('notAllowed')
  }

  return {
    drives: sessionRegistry,
    relay: controlRelay,
    people: participants,
    revocations,
    get counts() {
      return { ...controlRelay.counts, ...stops.counts }
    },

    robotAnswered: (connection: RobotConnection) =>
      connection.controlSession?.latencyRecorder.robotAnswered(preciseMs()),
    participantAnswered(connection: ParticipantConnection): void {
      connection.lastSignMs = clockMs()
      if (connection.controlSession?.operator === connection)
        connection.controlSession.latencyRecorder.operatorAnswered(preciseMs())
    },

    /** Somebody slow has read some of what waits, which no dead connection does. No pings go to the slow. */
    participantDrained(connection: ParticipantConnection): void {
      connection.lastSignMs = clockMs()
      controlRelay.participantDrained(connection)
    },

    /** Stops that came another way, and credentials that ended; returns how to stop listening. */
    listen(): () => void {
      const ends = [guard.subscribe(bus, 'robot.stop', stops.onRemoteStop)]
      const watch = watchRevocations(
        { ...deps.accounts, bus, guard, log },
        {
          keyRevoked(apiKeyId) {
            revocations.keyRevoked(apiKeyId)
            participants.revoke([apiKeyId])
          },
          permissionsChanged: revocations.permissionsChanged,
        },
      )
      return () => {
        watch.close()
        for (const end of ends) end()
      }
    },

    /** Finds credentials that ended and whose hint did not arrive, and who looks on without a right to it any more. */
    checkPermissions: singleFlight(() =>
      checkPermissions().catch((cause) => log.debug({ err: cause }, 'rights of people not looked up')),
    ),

    /** Sends stops again that robots have not answered. Call it again and again. */
    repeatStops(): void {
      for (const controlSession of sessionRegistry.all()) repeatStop(controlSession)
    },
    /** Retries admissions, and carries out stops that wait for one. Call it again and again. */
    retryAdmissions: participants.retryAdmissions,
    /** Cuts dead connections. Call it again and again. */
    cutSilent: participants.terminateSilent,
    /** Begins to write what is due. Call it again and again. */
    write: sessionWriter.tick,

    /** Measures the sessions whose turn it is. Call it `MEASURE_TURNS` times in the period of one measurement. */
    measure(): void {
      measureSlot = (measureSlot + 1) % MEASURE_SLOTS
      for (const controlSession of sessionRegistry.all()) {
        if (controlSession.ordinal % MEASURE_SLOTS === measureSlot && !controlSession.hasNoParticipants)
          measure(controlSession)
      }
    },

    /** Has every robot that may be moving stand. */
    haltAll(reason: StopReason): void {
      for (const controlSession of sessionRegistry.all()) controlSession.haltIfMoving(reason, clockMs())
    },

    /** Writes what is still to be written; settles also when the database does not take it. */
    flush: sessionWriter.flush,
  }
}
export type ControlSessionService = ReturnType<typeof createControlSessionService>
