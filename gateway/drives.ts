import type { LinkState, OpenSession } from '../src/modules/presence/presence.store.ts'
import { Drive, robotSession } from './drive.ts'
import type { RobotLink } from './robot-link.ts'

/**
 * The open sessions whose robots are connected here, or were until a moment ago: `open` when a robot comes with one
 * or is told of one, and gone when it is over, when the robot is elsewhere, or when nobody is left.
 */
export function createDrives(parts: {
  nodeId: string
  clockMs: () => number
  /** A session is over, or none of our business any more; what was measured of it is still to be kept. */
  onEnd: (drive: Drive) => void
}) {
  const { nodeId, clockMs, onEnd } = parts
  const bySession = new Map<string, Drive>()
  let begun = 0
  /** By robot: those whose robot is away while people still wait for it here. */
  const orphans = new Map<string, Drive>()

  function begin(robotId: string, session: OpenSession): Drive {
    const drive = new Drive(robotId, begun++, session)
    bySession.set(session.id, drive)
    attendance(drive)
    return drive
  }

  function forget(drive: Drive): void {
    drive.still()
    bySession.delete(drive.session.id)
    if (orphans.get(drive.robotId) === drive) orphans.delete(drive.robotId)
    if (drive.robot) drive.robot.drive = null
    drive.robot = null // what is still written of it is not the robot's business any more
    onEnd(drive)
  }

  /** An open session leaves the open states in one way only. Its latched stop ends with it; the robot stands on. */
  function over(drive: Drive): void {
    const nowMs = clockMs()
    drive.session = { ...drive.session, status: 'COMPLETED' }
    drive.robot?.send(JSON.stringify({ type: 'session', ...robotSession(drive.session) }), nowMs)
    if (drive.stopLatched) drive.unlatch(nowMs)
    drive.stand('session_over', nowMs)
    drive.tellState(nowMs)
    drive.dismiss('sessionOver')
    forget(drive)
  }

  /** Takes over what the database says of a session, and tells the robot, the operator and who watches. */
  function change(drive: Drive, session: OpenSession): void {
    const nowMs = clockMs()
    const before = drive.toldStatus
    const { status } = session
    const wasShown = drive.stateFrame()
    drive.session = session
    const cleared = applyStop(drive, session.stopReason)
    if (status !== 'ACTIVE') drive.still()
    if (drive.robot && before !== status) {
      drive.toldStatus = status
      drive.robot.send(JSON.stringify({ type: 'session', ...robotSession(session) }), nowMs)
    }
    // Also after a stop was cleared: that the robot may move again is for the operator to say, by resuming.
    const mayNotMove = status === 'PAUSED' && !drive.stopLatched
    if (mayNotMove && (cleared || (before !== null && before !== status)))
      drive.stand('session_paused', nowMs)
    const byPause = drive.stop?.reason === 'session_paused' && !drive.stopLatched // people write what they like
    if (status === 'ACTIVE' && byPause) drive.stop = null
    attendance(drive)
    if (drive.stateFrame() !== wasShown) drive.tellState(nowMs)
  }

  /** Latches or takes away a stop as the database says; answers whether one ended. */
  function applyStop(drive: Drive, reason: string | null): boolean {
    if (reason !== null) {
      drive.latch(reason, true, clockMs())
      return false
    }
    // One that was pressed here and that the database has yet to hear of is in force all the same.
    if (!drive.stopLatched || drive.pressed) return false
    drive.unlatch(clockMs())
    return true
  }

  /** Notes since when a session that needs an operator's socket has none. */
  function attendance(drive: Drive): void {
    const driven = drive.driven || drive.session.driven
    const needed = drive.active && driven && drive.operator === null && drive.robot !== null
    if (!needed) drive.unattendedSinceMs = 0
    else if (drive.unattendedSinceMs === 0) drive.unattendedSinceMs = clockMs()
  }

  return {
    get size() {
      return bySession.size
    },
    all: (): Iterable<Drive> => bySession.values(),
    of: (sessionId: string) => bySession.get(sessionId),
    orphanOf: (robotId: string) => orphans.get(robotId),
    orphanedRobots: (): Iterable<string> => orphans.keys(),
    attendance,

    /**
     * A robot was let in, with the session that it is in, in place of the connection before, if that is still open.
     * The caller tells it by its welcome.
     */
    robotCame(link: RobotLink, session: OpenSession | null, before?: RobotLink): Drive | null {
      const left = before?.drive ?? orphans.get(link.robotId)
      if (left && left.session.id !== session?.id) over(left)
      orphans.delete(link.robotId)
      if (!session) return null
      const drive = bySession.get(session.id) ?? begin(link.robotId, session)
      if (session.eventSeq >= drive.session.eventSeq) drive.session = session
      if (drive.robot) drive.robot.drive = null // the connection before this one, on its way out
      drive.still() // this one has been told nothing yet
      drive.robot = link
      link.drive = drive
      drive.toldStatus = drive.session.status
      drive.tally.forgetRobot()
      const { stopReason } = drive.session
      if (stopReason !== null) drive.stop = { reason: stopReason, latched: true, recorded: true }
      else if (!drive.pressed) drive.stop = null
      drive.stopSentMs = drive.stopLatched ? clockMs() : 0
      attendance(drive)
      drive.tellState(clockMs())
      return drive
    },

    /** A robot's connection is gone. Who drove or watched waits for it, here, until it is known where it went. */
    robotGone(link: RobotLink): void {
      const { drive } = link
      link.drive = null
      if (drive?.robot !== link) return
      drive.still()
      drive.robot = null
      drive.stopSentMs = 0
      drive.unattendedSinceMs = 0 // the session pauses because of the robot, not of the operator
      if (drive.deserted && !drive.pressed) return forget(drive)
      orphans.set(drive.robotId, drive)
      drive.tellState(clockMs())
    },

    /** The last of those who took part has left. */
    deserted(drive: Drive): void {
      if (bySession.get(drive.session.id) !== drive) return // gone already; the robot may be back with another
      if (drive.robot === null && drive.deserted && !drive.pressed) forget(drive)
    },

    /**
     * What the database says of the session of a robot that is connected here. A pause, or a stop, that was over
     * before anybody looked is told as a pause: whatever is obeyed late must still be obeyed.
     */
    looked(link: RobotLink, session: OpenSession | null): void {
      if (link.drive && link.drive.session.id !== session?.id) over(link.drive)
      if (!session) return
      const drive = link.drive ?? bySession.get(session.id) ?? begin(link.robotId, session)
      drive.robot = link
      link.drive = drive
      if (session.eventSeq < drive.session.eventSeq) return // older than what is known already
      if (pausedUnseen(drive, session)) change(drive, { ...session, status: 'PAUSED' })
      change(drive, session)
    },

    /** What the database says of a robot that people wait for here. */
    lookedForOrphan(drive: Drive, state: LinkState): void {
      if (state.session?.id !== drive.session.id) return over(drive)
      if (state.connected && state.nodeId !== nodeId) {
        drive.dismiss('robotMoved')
        return forget(drive)
      }
      if (state.session.eventSeq >= drive.session.eventSeq) change(drive, state.session)
    },
  }
}
export type Drives = ReturnType<typeof createDrives>

/** Whether the robot was told of an earlier stretch of ACTIVE time than the present one, and of nothing since. */
function pausedUnseen(drive: Drive, session: OpenSession): boolean {
  const active = drive.toldStatus === 'ACTIVE' && session.status === 'ACTIVE'
  return active && drive.session.activeSinceMs !== session.activeSinceMs
}
