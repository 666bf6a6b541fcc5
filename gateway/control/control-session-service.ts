import type { StopReason } from '@wheelhouse/protocol'
import { singleFlight } from '../../src/core/concurrency/concurrency.ts'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { type RevocationSources, watchRevocations } from '../../src/modules/identity/index.ts'
import type { ControlPersistence, SessionMembership, TicketStore } from '../../src/modules/sessions/index.ts'
import type { StallClock } from '../base/clock.ts'
import type { FrameTime } from '../base/frame-time.ts'
import type { ChannelOffers } from '../channel/channel-offers.ts'
import type { ParticipantConnection } from '../participants/participant-connection.ts'
import { createParticipantFrames } from '../participants/participant-frames.ts'
import { createParticipants } from '../participants/participants.ts'
import { createRevocations } from '../participants/revocations.ts'
import type { RobotConnection } from '../robots/robot-connection.ts'
import type { BatteryFeed } from '../writer/battery-feed.ts'
import { createSessionWriter } from '../writer/session-writer.ts'
import { createControlRelay } from './control-relay.ts'
import type { ControlSession } from './control-session.ts'
import { createControlSessionRegistry } from './control-session-registry.ts'
import { announceLimits } from './speed-envelope.ts'
import { createStops } from './stops.ts'

/** Slots of a measuring period. Each slot measures some of the sessions, because a ping is a system call. */
export const MEASURE_SLOTS = 50

/** Creates and connects all parts that control a robot: registry, relay, stops, participants and session writer. */
export function createControlSessionService(deps: {
  controlPersistence: ControlPersistence
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
  stallClock: StallClock
  channelOffers: ChannelOffers
  frameTime: FrameTime
  /** Schedules a lookup of these robots. */
  requestLookup: (robotIds: Iterable<string>) => void
  /** Called for a session that has a robot, or another status. It must not throw. */
  onSessionChange: (controlSession: ControlSession) => void
  /** Looks up the robots that changed lately. Throws if the database is unavailable. */
  pollChanges: () => Promise<void>
}) {
  const { controlPersistence, bus, log, guard, nodeId, settings, battery, clockMs } = deps
  const { requestLookup, pollChanges } = deps
  const preciseMs = () => performance.now()
  const sessionRegistry = createControlSessionRegistry({
    nodeId,
    clockMs,
    onEnd: (controlSession) => sessionWriter.ended(controlSession),
    onChange: deps.onSessionChange,
  })
  const sessionWriter = createSessionWriter({
    controlPersistence,
    sessionRegistry,
    requestLookup,
    log,
    clockMs,
    operatorGraceMs: settings.operatorGraceMs,
  })
  const controlRelay = createControlRelay({ guard, deadmanMs: settings.deadmanMs, preciseMs, clockMs })
  /** Guarded for each session, so that one failure does not affect the others. A robot that is cut off halts. */
  const repeatStop = guard.handler(
    'session:repeat-stop',
    (controlSession: ControlSession) => controlSession.stops.repeat(clockMs()),
    (controlSession) => controlSession.robot?.close('internalError'),
  )
  const stops = createStops({ sessionRegistry, sessionWriter, clockMs })
  const requestStop = (
    controlSession: ControlSession,
    { ticketClaims }: ParticipantConnection,
    reason: string | undefined,
  ) => stops.requestStop(controlSession, { userId: ticketClaims.userId, reason })
  const onStopFrame = (connection: ParticipantConnection, reason: string | undefined) => {
    if (connection.controlSession) requestStop(connection.controlSession, connection, reason)
  }
  const revocations = createRevocations(clockMs)
  const frames = createParticipantFrames({
    controlRelay,
    onStopFrame,
    channelOffers: deps.channelOffers,
    frameTime: deps.frameTime,
    guard,
    onRoundTrip: operatorMeasured,
    stallClock: deps.stallClock,
    deadmanMs: settings.deadmanMs,
    clockMs,
    preciseMs,
  })
  const participants = createParticipants({
    sessionRegistry,
    frames,
    battery,
    requestStop,
    revocations,
    pollChanges,
    controlPersistence,
    channelOffers: deps.channelOffers,
    log,
    clockMs,
    verdictOf: deps.ticketStore.verdictOf,
    silenceLimitMs: settings.heartbeatTimeoutMs,
  })
  let measureSlot = 0

  /** Pings both sides. The pong of a peer is its sign of life; while a data channel delivers, its probes measure the round trip. */
  const pingsOf = ({ robot, operator }: ControlSession) => ({
    robot: () => robot?.ping() === true && robot.channel?.trusted !== true,
    operator: () => operator?.ping() === true && operator.channel?.trusted !== true,
  })

  function operatorMeasured(connection: ParticipantConnection, roundTripMs: number): void {
    const { controlSession } = connection
    if (controlSession?.operator !== connection) return
    controlSession.latencyRecorder.operatorMeasured(roundTripMs, preciseMs())
    updateSpeed(controlSession)
  }

  /** Limits the speed by the newest round trips. Control frames report their own delays. */
  function updateSpeed(controlSession: ControlSession): void {
    const { speed, latencyRecorder, picture } = controlSession
    if (!speed.enabled) return
    const nowMs = preciseMs()
    speed.account(controlSession.isDrivable, nowMs)
    const pathMs = latencyRecorder.currentPathMs(nowMs)
    const pictureMs = picture.recentMs(nowMs)
    speed.observe(pathMs === undefined ? undefined : { commandMs: pathMs, pictureMs }, nowMs)
    announceLimits(controlSession, clockMs())
  }

  /** Measures a session at once in which the robot only creeps because its latency is unknown. */
  const measureUnknown = guard.handler('session:unknown-latency', (controlSession: ControlSession): void => {
    controlSession.latencyRecorder.measureUnknown(preciseMs(), pingsOf(controlSession))
    announceLimits(controlSession, clockMs())
  })

  /** Pings the robot and the participants, and sends the participants the last round trips. */
  const measure = guard.handler('session:latency', (controlSession: ControlSession): void => {
    controlSession.latencyRecorder.measure(preciseMs(), pingsOf(controlSession))
    updateSpeed(controlSession)
    const frame = controlSession.latencyRecorder.frame(preciseMs())
    controlSession.tap.frame('latency', frame)
    for (const participant of controlSession.participants()) {
      if (participant !== controlSession.operator) participant.ping()
      participant.sendIfFlowing(frame, clockMs())
    }
  })

  async function checkPermissions(): Promise<void> {
    const apiKeys = participants.apiKeys()
    if (apiKeys.length > 0) participants.revoke(await controlPersistence.endedKeys(apiKeys))
    const observers = participants.observers()
    if (observers.length === 0) return
    const memberships = observers.map(({ ticketClaims: { sessionId, userId } }) => ({ sessionId, userId }))
    const keyOf = (membership: SessionMembership) => `${membership.sessionId} ${membership.userId}`
    const revoked = new Set((await controlPersistence.revokedObservers(memberships)).map(keyOf))
    for (const connection of observers)
      if (revoked.has(keyOf(connection.ticketClaims))) connection.close('notAllowed')
  }

  return {
    sessionRegistry,
    controlRelay,
    participants,
    revocations,
    /** The number of sessions whose robots may not drive at full speed. */
    get limitedSessions() {
      let count = 0
      for (const { speed } of sessionRegistry.all()) if (speed.scale < 1) count++
      return count
    },
    get counts() {
      return { ...controlRelay.counts, ...stops.counts }
    },

    robotAnswered(connection: RobotConnection): void {
      if (!connection.controlSession) return
      connection.controlSession.latencyRecorder.robotAnswered(preciseMs())
      updateSpeed(connection.controlSession)
    },
    /** Notes a round trip to a robot over its data channel. */
    robotMeasured({ controlSession }: RobotConnection, roundTripMs: number): void {
      if (!controlSession) return
      controlSession.latencyRecorder.robotMeasured(roundTripMs, preciseMs())
      updateSpeed(controlSession)
    },
    /** Handles the events of participants' sockets. */
    participantEvents: {
      pong(connection: ParticipantConnection): void {
        connection.recordSign(clockMs())
        if (connection.controlSession?.operator !== connection) return
        connection.controlSession.latencyRecorder.operatorAnswered(preciseMs())
        updateSpeed(connection.controlSession)
      },

      /** Counts as a sign of life: a slow participant gets no pings, but a dead one does not read either. */
      drained(connection: ParticipantConnection): void {
        connection.recordSign(clockMs())
        controlRelay.participantDrained(connection)
      },
    },

    /** Subscribes to stops of other processes and to revocations; returns a function that unsubscribes. */
    listen(): () => void {
      const unsubscribe = guard.subscribe(bus, 'robot.stop', stops.onRemoteStop)
      const watch = watchRevocations(
        { ...deps.accounts, bus, guard, log },
        {
          keyRevoked(apiKeyId) {
            revocations.keyRevoked(apiKeyId)
            participants.revoke([apiKeyId])
          },
          permissionsChanged(user) {
            revocations.permissionsChanged(user)
            if (user.suspended) participants.suspend(user.id, user.permissions_version)
          },
        },
      )
      return () => {
        watch.close()
        unsubscribe()
      }
    },

    /** Finds revoked credentials whose hint was lost, and observers without permission. Call it periodically. */
    checkPermissions: singleFlight(() =>
      checkPermissions().catch((cause) =>
        log.debug({ err: cause }, 'failed to check the permissions of participants'),
      ),
    ),

    /** Sends stops again that robots have not confirmed. Call it periodically. */
    repeatStops(): void {
      for (const controlSession of sessionRegistry.all()) repeatStop(controlSession)
    },
    retryAdmissions: participants.retryAdmissions,
    terminateSilent: participants.terminateSilent,
    startWrites: sessionWriter.tick,

    /** Measures the sessions of the next slot. Call it `MEASURE_SLOTS` times in each measuring period. */
    measure(): void {
      measureSlot = (measureSlot + 1) % MEASURE_SLOTS
      for (const controlSession of sessionRegistry.all()) {
        if (controlSession.ordinal % MEASURE_SLOTS === measureSlot && !controlSession.hasNoParticipants)
          measure(controlSession)
        else if (controlSession.speed.unknown && controlSession.isDrivable) measureUnknown(controlSession)
      }
    },

    /** Halts every robot that may be moving. */
    haltAll(reason: StopReason): void {
      for (const controlSession of sessionRegistry.all()) controlSession.stops.haltIfMoving(reason, clockMs())
    },

    /** Writes all pending data; settles also if the database fails. */
    flush: sessionWriter.flush,

    /** Does the same for the last time, and retries while a stop is not recorded, for a few seconds. */
    drain: sessionWriter.drain,
  }
}
export type ControlSessionService = ReturnType<typeof createControlSessionService>
