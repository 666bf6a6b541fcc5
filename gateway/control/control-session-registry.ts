import type { LinkState, OpenSession } from '../../src/modules/presence/index.ts'
import type { RobotConnection } from '../connections/robot-connection.ts'
import { ControlSession, robotSession } from './control-session.ts'

/**
 * The open sessions whose robots are connected here, or were until a moment ago: `open` when a robot comes with one
 * or is told of one, and gone when it is over, when the robot is elsewhere, or when nobody is left.
 */
export function createControlSessionRegistry(deps: {
  nodeId: string
  clockMs: () => number
  /** A session is over, or none of our business any more; what was measured of it is still to be kept. */
  onEnd: (controlSession: ControlSession) => void
}) {
  const { nodeId, clockMs, onEnd } = deps
  const bySession = new Map<string, ControlSession>()
  let createdCount = 0
  /** By robot: those whose robot is away while people still wait for it here. */
  const orphans = new Map<string, ControlSession>()

  function create(robotId: string, session: OpenSession): ControlSession {
    const controlSession = new ControlSession(robotId, createdCount++, session)
    bySession.set(session.id, controlSession)
    updateUnattendedTimer(controlSession)
    return controlSession
  }

  function remove(controlSession: ControlSession): void {
    controlSession.clearMotion()
    bySession.delete(controlSession.session.id)
    if (orphans.get(controlSession.robotId) === controlSession) orphans.delete(controlSession.robotId)
    if (controlSession.robot) controlSession.robot.controlSession = null
    controlSession.robot = null // what is still written of it is not the robot's business any more
    onEnd(controlSession)
  }

  /** An open session leaves the open states in one way only. Its latched stop ends with it; the robot stands on. */
  function complete(controlSession: ControlSession): void {
    const nowMs = clockMs()
    controlSession.session = { ...controlSession.session, status: 'COMPLETED' }
    controlSession.robot?.send(
      JSON.stringify({ type: 'session', ...robotSession(controlSession.session) }),
      nowMs,
    )
    if (controlSession.stopLatched) controlSession.unlatch(nowMs)
    controlSession.halt('session_over', nowMs)
    controlSession.broadcastState(nowMs)
    controlSession.disconnectParticipants('sessionOver')
    remove(controlSession)
  }

  /** Takes over what the database says of a session, and tells the robot, the operator and who watches. */
  function applySession(controlSession: ControlSession, session: OpenSession): void {
    const nowMs = clockMs()
    const before = controlSession.lastSentStatus
    const { status } = session
    const frameBefore = controlSession.stateFrame()
    controlSession.session = session
    const cleared = applyStop(controlSession, session.stopReason)
    if (status !== 'ACTIVE') controlSession.clearMotion()
    if (controlSession.robot && before !== status) {
      controlSession.lastSentStatus = status
      controlSession.robot.send(JSON.stringify({ type: 'session', ...robotSession(session) }), nowMs)
    }
    // Also after a stop was cleared: that the robot may move again is for the operator to say, by resuming.
    const motionForbidden = status === 'PAUSED' && !controlSession.stopLatched
    if (motionForbidden && (cleared || (before !== null && before !== status)))
      controlSession.halt('session_paused', nowMs)
    const byPause = controlSession.stop?.reason === 'session_paused' && !controlSession.stopLatched // people write what they like
    if (status === 'ACTIVE' && byPause) controlSession.stop = null
    updateUnattendedTimer(controlSession)
    if (controlSession.stateFrame() !== frameBefore) controlSession.broadcastState(nowMs)
  }

  /** Latches or takes away a stop as the database says; answers whether one ended. */
  function applyStop(controlSession: ControlSession, reason: string | null): boolean {
    if (reason !== null) {
      controlSession.latch(reason, true, clockMs())
      return false
    }
    // One that was pressed here and that the database has yet to hear of is in force all the same.
    if (!controlSession.stopLatched || controlSession.pendingStop) return false
    controlSession.unlatch(clockMs())
    return true
  }

  /** Notes since when a session that needs an operator's socket has none. */
  function updateUnattendedTimer(controlSession: ControlSession): void {
    const operatorJoined = controlSession.operatorJoined || controlSession.session.driven
    const needed =
      controlSession.active &&
      operatorJoined &&
      controlSession.operator === null &&
      controlSession.robot !== null
    if (!needed) controlSession.unattendedSinceMs = 0
    else if (controlSession.unattendedSinceMs === 0) controlSession.unattendedSinceMs = clockMs()
  }

  return {
    get size() {
      return bySession.size
    },
    all: (): Iterable<ControlSession> => bySession.values(),
    of: (sessionId: string) => bySession.get(sessionId),
    orphanOf: (robotId: string) => orphans.get(robotId),
    orphanedRobots: (): Iterable<string> => orphans.keys(),
    attendance: updateUnattendedTimer,

    /**
     * A robot was let in, with the session that it is in, in place of the connection before, if that is still open.
     * The caller tells it by its welcome.
     */
    onRobotConnected(
      connection: RobotConnection,
      session: OpenSession | null,
      before?: RobotConnection,
    ): ControlSession | null {
      const left = before?.controlSession ?? orphans.get(connection.robotId)
      if (left && left.session.id !== session?.id) complete(left)
      orphans.delete(connection.robotId)
      if (!session) return null
      const controlSession = bySession.get(session.id) ?? create(connection.robotId, session)
      if (session.eventSeq >= controlSession.session.eventSeq) controlSession.session = session
      if (controlSession.robot) controlSession.robot.controlSession = null // the connection before this one, on its way out
      controlSession.clearMotion() // this one has been told nothing yet
      controlSession.robot = connection
      connection.controlSession = controlSession
      controlSession.lastSentStatus = controlSession.session.status
      controlSession.latencyRecorder.forgetRobot()
      const { stopReason } = controlSession.session
      if (stopReason !== null) controlSession.stop = { reason: stopReason, latched: true, recorded: true }
      else if (!controlSession.pendingStop) controlSession.stop = null
      controlSession.stopSentMs = controlSession.stopLatched ? clockMs() : 0
      updateUnattendedTimer(controlSession)
      controlSession.broadcastState(clockMs())
      return controlSession
    },

    /** A robot's connection is gone. Who drove or watched waits for it, here, until it is known where it went. */
    onRobotDisconnected(connection: RobotConnection): void {
      const { controlSession } = connection
      connection.controlSession = null
      if (controlSession?.robot !== connection) return
      controlSession.clearMotion()
      controlSession.robot = null
      controlSession.stopSentMs = 0
      controlSession.unattendedSinceMs = 0 // the session pauses because of the robot, not of the operator
      if (controlSession.hasNoParticipants && !controlSession.pendingStop) return remove(controlSession)
      orphans.set(controlSession.robotId, controlSession)
      controlSession.broadcastState(clockMs())
    },

    /** The last of those who took part has left. */
    removeIfEmpty(controlSession: ControlSession): void {
      if (bySession.get(controlSession.session.id) !== controlSession) return // gone already; the robot may be back with another
      if (controlSession.robot === null && controlSession.hasNoParticipants && !controlSession.pendingStop)
        remove(controlSession)
    },

    /**
     * What the database says of the session of a robot that is connected here. A pause, or a stop, that was over
     * before anybody looked is told as a pause: whatever is obeyed late must still be obeyed.
     */
    applyLookup(connection: RobotConnection, session: OpenSession | null): void {
      if (connection.controlSession && connection.controlSession.session.id !== session?.id)
        complete(connection.controlSession)
      if (!session) return
      const controlSession =
        connection.controlSession ?? bySession.get(session.id) ?? create(connection.robotId, session)
      controlSession.robot = connection
      connection.controlSession = controlSession
      if (session.eventSeq < controlSession.session.eventSeq) return // older than what is known already
      if (missedPause(controlSession, session)) applySession(controlSession, { ...session, status: 'PAUSED' })
      applySession(controlSession, session)
    },

    /** What the database says of a robot that people wait for here. */
    applyOrphanLookup(controlSession: ControlSession, state: LinkState): void {
      if (state.session?.id !== controlSession.session.id) return complete(controlSession)
      if (state.connected && state.nodeId !== nodeId) {
        controlSession.disconnectParticipants('robotMoved')
        return remove(controlSession)
      }
      if (state.session.eventSeq >= controlSession.session.eventSeq)
        applySession(controlSession, state.session)
    },
  }
}
export type ControlSessionRegistry = ReturnType<typeof createControlSessionRegistry>

/** Whether the robot was told of an earlier stretch of ACTIVE time than the present one, and of nothing since. */
function missedPause(controlSession: ControlSession, session: OpenSession): boolean {
  const active = controlSession.lastSentStatus === 'ACTIVE' && session.status === 'ACTIVE'
  return active && controlSession.session.activeSinceMs !== session.activeSinceMs
}
