import type { LinkState, OpenSession } from '../../src/modules/presence/index.ts'
import { ControlSession, type RobotMember } from './control-session.ts'

/** Removed sessions whose stops the database does not have yet; of more than that, the newest. */
const MAX_UNRECORDED = 1_000

/** Learns of changes of the registry. Its methods must not throw. */
interface SessionListener {
  /** Handles a session that is removed. Its last measurements are not written yet. */
  ended(controlSession: ControlSession): void
  /** Handles a session that has a robot, or another status. No command has reached the robot since. */
  changed(controlSession: ControlSession): void
}

/**
 * Creates the registry of open sessions whose robots are connected here, or were until a moment ago. A session is added when its robot
 * connects with it or starts it. It is removed when it is over, when its robot is at another gateway, or when neither
 * the robot nor a participant is left.
 */
export function createControlSessionRegistry(deps: { nodeId: string; clockMs: () => number }) {
  const { nodeId, clockMs } = deps
  const bySession = new Map<string, ControlSession>()
  let listener: SessionListener = { ended() {}, changed() {} }
  let createdCount = 0
  /** By robot: sessions whose robot is disconnected while participants still wait for it here. */
  const orphans = new Map<string, ControlSession>()
  /** By session: removed sessions whose stops the database does not have yet. */
  const unrecorded = new Map<string, ControlSession>()

  /** Adds a session. One that was removed returns with its stop, which the database may not have yet. */
  function add(robotId: string, session: OpenSession): ControlSession {
    const controlSession = unrecorded.get(session.id) ?? new ControlSession(robotId, createdCount++, session)
    unrecorded.delete(session.id)
    bySession.set(session.id, controlSession)
    return controlSession
  }

  function keepUnrecorded(controlSession: ControlSession): void {
    unrecorded.set(controlSession.session.id, controlSession)
    const oldest = unrecorded.keys().next().value
    if (unrecorded.size > MAX_UNRECORDED && oldest !== undefined) unrecorded.delete(oldest)
  }

  function remove(controlSession: ControlSession): void {
    controlSession.release()
    bySession.delete(controlSession.session.id)
    const { session, stops } = controlSession
    if (stops.pending && session.status !== 'COMPLETED') keepUnrecorded(controlSession)
    if (orphans.get(controlSession.robotId) === controlSession) orphans.delete(controlSession.robotId)
    listener.ended(controlSession)
  }

  function complete(controlSession: ControlSession): void {
    controlSession.complete(clockMs())
    remove(controlSession)
  }

  return {
    get size() {
      return bySession.size
    },
    /** The number of sessions whose robots may not drive at full speed. */
    get limitedSize() {
      let count = 0
      for (const { speed } of bySession.values()) if (speed.scale < 1) count++
      return count
    },
    /** Sets who learns of changes. Call it once, before robots connect. */
    listen(newListener: SessionListener): void {
      listener = newListener
    },
    all: (): Iterable<ControlSession> => bySession.values(),
    of: (sessionId: string) => bySession.get(sessionId),
    orphanOf: (robotId: string) => orphans.get(robotId),
    orphanedRobots: (): Iterable<string> => orphans.keys(),

    /**
     * Binds a connection that was admitted to the session of its robot; returns the session. Completes the session of
     * the replaced connection if that is another one. The caller sends the welcome.
     */
    onRobotConnected(
      connection: RobotMember,
      session: OpenSession | null,
      replaced?: RobotMember,
    ): ControlSession | null {
      const previous = replaced?.controlSession ?? orphans.get(connection.robotId)
      if (previous && previous.session.id !== session?.id) complete(previous)
      orphans.delete(connection.robotId)
      if (!session) return null
      const controlSession = bySession.get(session.id) ?? add(connection.robotId, session)
      controlSession.connectRobot(connection, session, clockMs())
      listener.changed(controlSession)
      return controlSession
    },

    /** Unbinds a connection that has closed. Participants wait here until the robot's new gateway is known. */
    onRobotDisconnected(connection: RobotMember): void {
      const { controlSession } = connection
      connection.leaveSession()
      if (controlSession?.robot !== connection) return
      controlSession.disconnectRobot()
      if (controlSession.isAbandoned) return remove(controlSession)
      orphans.set(controlSession.robotId, controlSession)
      controlSession.broadcastState(clockMs())
    },

    /**
     * Removes a session that neither a robot, a participant nor a pending stop needs any more. A removed one is forgotten
     * once its stops are recorded.
     */
    removeIfAbandoned(controlSession: ControlSession): void {
      const { session, stops } = controlSession
      if (unrecorded.get(session.id) === controlSession && !stops.pending) unrecorded.delete(session.id)
      if (bySession.get(session.id) !== controlSession) return // removed before; a new one may exist
      if (controlSession.isAbandoned) remove(controlSession)
    },

    /** Applies the session in the database to a robot that is connected here. */
    applyLookup(connection: RobotMember, session: OpenSession | null): void {
      if (connection.controlSession && connection.controlSession.session.id !== session?.id)
        complete(connection.controlSession)
      if (!session) return
      const controlSession =
        connection.controlSession ?? bySession.get(session.id) ?? add(connection.robotId, session)
      controlSession.bindRobot(connection)
      controlSession.applySession(session, clockMs())
      listener.changed(controlSession)
    },

    /** Applies the state in the database to a session whose participants wait here for the robot. */
    applyOrphanLookup(controlSession: ControlSession, state: LinkState): void {
      if (state.session?.id !== controlSession.session.id) return complete(controlSession)
      if (state.connected && state.nodeId !== nodeId) {
        controlSession.disconnectParticipants('robotMoved')
        return remove(controlSession)
      }
      controlSession.applySession(state.session, clockMs())
    },
  }
}
export type ControlSessionRegistry = ReturnType<typeof createControlSessionRegistry>
