import {
  type AutonomyMode,
  type CloseReason,
  type ControlRules,
  ControlSchema,
  compileControlSchema,
  type DropReason,
  FIRST_EPOCH,
  type Lease,
  type MotionLimiter,
  type SessionStatus,
} from '@wheelhouse/protocol'
import type { OpenSession } from '../../src/modules/presence/index.ts'
import { GatewayConnection } from '../base/connection.ts'
import type { OrderedFrames } from '../channel/ordered-frames.ts'
import { SessionTap } from '../recording/session-taps.ts'
import { ControlStream } from './control-stream.ts'
import type { DriveState, Stamp } from './gate.ts'
import { createLatencyRecorder, type LatencyRecorder } from './latency-recorder.ts'
import { PictureAgeCounts } from './picture-age.ts'
import { cancelGoalFrame, leaseFrame, robotLeaseFrame, sessionFrame, stateFrame } from './session-frames.ts'
import { type RecordedStop, SessionStops } from './session-stops.ts'
import { announceLimits, SpeedEnvelope, sendLimitsToRobot } from './speed-envelope.ts'

/** Compiled schemas in this process; of more than that, the most recently used. */
const MAX_COMPILED = 256

/** By the JSON text of the schema; null for one that this version does not understand. */
const compiled = new Map<string, ControlRules | null>()

/** Returns the rules of a control schema, compiled once for all sessions; null without one. Not for each frame. */
function controlRulesOf(schema: ControlSchema | null): ControlRules | null {
  if (schema === null) return null
  const text = JSON.stringify(schema)
  const known = compiled.get(text)
  const parsed = known === undefined ? ControlSchema.safeParse(schema) : undefined
  const rules = known ?? (parsed?.success ? compileControlSchema(parsed.data) : null)
  compiled.delete(text)
  compiled.set(text, rules)
  const oldest = compiled.keys().next().value
  if (compiled.size > MAX_COMPILED && oldest !== undefined) compiled.delete(oldest)
  return rules
}

/** Observers of one session at one gateway. */
const MAX_OBSERVERS = 100
/** Users who are changing who holds control of one session; no more can keep its robot halted. */
const MAX_CHANGING = 32
/** Users of one session at one gateway who may hold control. */
const MAX_CONTROLLERS = 32

/** A connection that belongs to at most one session at a time. */
export abstract class SessionMember extends GatewayConnection {
  #controlSession: ControlSession | null = null

  /** The session of the connection; null before the gateway has found it, and after the connection has left it. */
  get controlSession(): ControlSession | null {
    return this.#controlSession
  }

  /** Binds the connection to a session. Only the session itself calls this. */
  enterSession(controlSession: ControlSession): void {
    this.#controlSession = controlSession
  }

  leaveSession(): void {
    this.#controlSession = null
  }
}

/** What a robot reported of itself: the frame for participants, its mode, and the coordinate frame in which it accepts goals. */
export interface ReportedAutonomy {
  readonly frame: string
  readonly mode: AutonomyMode
  readonly goalFrame: string | null
}

/** A robot's connection, as its session sees it. */
export interface RobotMember extends SessionMember {
  readonly robotId: string
  readonly ordered: OrderedFrames
  /** Charge as last reported, 0 to 1, and when; -1 while unknown. */
  readonly battery: number
  readonly batteryMs: number
  /** What this connection has reported of itself; null before. */
  readonly autonomy: ReportedAutonomy | null
  reportAutonomy(autonomy: ReportedAutonomy): void
  /** Returns the age of a sample with this time of the robot; NaN if that is unknown. */
  sampleAgeMs(t: unknown, nowMs: number): number
}

/** The connection of an operator or an observer, as its session sees it. */
export interface ParticipantMember extends SessionMember {
  /** The order in which connections opened: a newer one has a higher number. */
  readonly number: number
  /** The user. */
  readonly account: string
  /** Whether the user is a service account, whose commands are those of a policy. */
  readonly isProgram: boolean
  bufferTelemetry(frame: string | ArrayBuffer): void
  takeBufferedTelemetry(): string | ArrayBuffer | null
  /** Whether the newest report of the robot's autonomy was not sent to it. */
  readonly missedAutonomy: boolean
  noteMissedAutonomy(missed: boolean): void
}

/**
 * One open session at the gateway that has its robot, or had it a moment ago: its participants, its stop, the state of
 * its control frames, and the last state that was sent to its robot. Every change of this state is a method here, and
 * no frame needs the database or another process. Times are in the gateway's clock, except for control frames: theirs
 * are in the relay's.
 */
export class ControlSession {
  readonly robotId: string
  /** The number of sessions that began in this process before: it staggers periodic work over all sessions. */
  readonly ordinal: number
  readonly latencyRecorder: LatencyRecorder = createLatencyRecorder()
  readonly pictureAgeCounts = new PictureAgeCounts()
  readonly tap = new SessionTap()
  readonly stream: ControlStream
  readonly stops: SessionStops
  readonly speed: SpeedEnvelope
  #session: OpenSession
  #rules: ControlRules | null = null
  #motionLimiter: MotionLimiter | null = null
  #robot: RobotMember | null = null
  /** Who holds control. Only a higher epoch replaces it. */
  #lease: Lease
  /** The epoch that the robot's connection was told last. */
  #toldEpoch = FIRST_EPOCH
  /** Until when no command passes because users are taking, returning or revoking control. */
  readonly #changing = new Map<string, number>()
  /** What the robot was told and reported last, for the next holder. */
  #lastCommand: string | ArrayBuffer | null = null
  #lastTelemetry: string | ArrayBuffer | null = null
  /** The connections of those who may hold control, by user. */
  readonly #controllers = new Map<string, ParticipantMember>()
  /** The connection of who holds control. */
  #operator: ParticipantMember | null = null
  readonly #observers = new Set<ParticipantMember>()
  /** An operator has joined at this gateway, whether or not the database has recorded it. */
  #operatorJoined = false
  /** The status that was last sent to the robot; null before the first one. */
  #lastSentStatus: SessionStatus | null = null
  /** Since when the session requires the connection of who holds control and has none; 0 otherwise. */
  #unattendedSinceMs = 0

  constructor(robotId: string, ordinal: number, session: OpenSession) {
    this.robotId = robotId
    this.ordinal = ordinal
    this.#session = session
    this.#lease = session.lease
    this.#setRules(session)
    this.stream = new ControlStream({
      limits: session,
      pathMs: this.latencyRecorder.pathMs,
      onDiscarded: ({ frame }, why) => this.tap.dropped(frame, why),
    })
    this.speed = new SpeedEnvelope(session.latencyBudgetMs)
    this.stops = new SessionStops(this)
  }

  /** The session as the database described it last, with the changes that this gateway has recorded since. */
  get session(): OpenSession {
    return this.#session
  }
  get robot(): RobotMember | null {
    return this.#robot
  }
  /** The connection of who holds control: the operator who drives. */
  get operator(): ParticipantMember | null {
    return this.#operator
  }
  get lease(): Lease {
    return this.#lease
  }
  /** Those who may hold control and are connected. */
  get connectedUserIds(): string[] {
    return [...this.#controllers.keys()]
  }
  *participants(): Iterable<ParticipantMember> {
    yield* this.#controllers.values()
    yield* this.#observers
  }
  get hasNoParticipants(): boolean {
    return this.#controllers.size === 0 && this.#observers.size === 0
  }
  /** Whether neither a connection nor a pending stop needs the session at this gateway. */
  get isAbandoned(): boolean {
    return this.#robot === null && this.hasNoParticipants && !this.stops.pending
  }
  /** The rules of the control schema; null if the robot has none. */
  get rules(): ControlRules | null {
    return this.#rules
  }
  /** The rules that every command must keep; null unless the robot is in strict mode. */
  get strictRules(): ControlRules | null {
    return this.#session.strictControl ? this.#rules : null
  }
  /** Limits how fast the values of commands change; null unless the robot is in strict mode and its schema has rates. */
  get motionLimiter(): MotionLimiter | null {
    return this.#session.strictControl ? this.#motionLimiter : null
  }
  /** Whether control frames could reach the robot, as far as connections and status allow. */
  get isDrivable(): boolean {
    return this.#robot !== null && this.#operator !== null && this.active
  }
  /** Whether an operator has joined the session once, here or according to the database. */
  get hadOperator(): boolean {
    return this.#operatorJoined || this.#session.driven
  }
  /** Whether the database does not know yet that an operator has joined. */
  get isJoinUnrecorded(): boolean {
    return this.#operatorJoined && !this.#session.driven
  }
  /** Returns how long the session has required an operator's connection without one. */
  unattendedMs(nowMs: number): number {
    return this.#unattendedSinceMs === 0 ? 0 : nowMs - this.#unattendedSinceMs
  }

  get robotConnected(): boolean {
    return this.#robot !== null
  }
  get active(): boolean {
    return this.#session.status === 'ACTIVE'
  }

  // The robot and the record of the session.

  /** Replaces the robot's connection. Its welcome, which the caller sends, contains the session and the stop. */
  connectRobot(robot: RobotMember, session: OpenSession, nowMs: number): void {
    if (session.eventSeq >= this.#session.eventSeq) this.#setSession(session)
    this.applyLease(session.lease, nowMs)
    this.#setRules(this.#session)
    this.#motionLimiter?.reset() // the robot may have started again, in another position
    this.stream.clearMotion('robot_offline') // the new connection has received no frame
    this.bindRobot(robot)
    this.#lastSentStatus = this.#session.status
    this.latencyRecorder.forgetRobot()
    this.speed.setBudget(this.#session.latencyBudgetMs)
    this.speed.forget()
    this.stops.robotConnected(nowMs)
    this.#updateUnattended(nowMs)
    this.broadcastState(nowMs)
  }

  /** Binds the session to its robot's connection, which knows of no session yet. */
  bindRobot(robot: RobotMember): void {
    if (this.#robot !== robot) {
      this.#robot?.leaveSession()
      this.#toldEpoch = FIRST_EPOCH
    }
    this.#robot = robot
    robot.enterSession(this)
  }

  disconnectRobot(): void {
    this.stream.clearMotion('robot_offline')
    this.#robot = null
    this.stops.confirm() // the stop cannot be repeated without a connection
    this.#unattendedSinceMs = 0 // the session pauses because of the robot, not because of the operator
  }

  /** Ends the session's part at this gateway. The latency and the stops that are not recorded yet stay readable. */
  release(): void {
    this.stream.clearMotion('session_paused')
    this.tap.end()
    this.#robot?.leaveSession()
    this.#robot = null
  }

  /**
   * Applies the session in the database, unless this gateway knows a newer state, and notifies the robot and the
   * participants. A pause or a stop that ended before this gateway saw it is sent as a pause, because the robot must
   * still obey it.
   */
  applySession(session: OpenSession, nowMs: number): void {
    this.applyLease(session.lease, nowMs)
    if (session.eventSeq < this.#session.eventSeq) return
    if (this.#robot && this.#missedPause(session)) this.#apply({ ...session, status: 'PAUSED' }, nowMs)
    this.#apply(session, nowMs)
  }

  /** Ends the session: the only way out of the open states. Clears the latched stop; the robot stays halted. */
  complete(nowMs: number): void {
    this.#setSession({ ...this.#session, status: 'COMPLETED' })
    this.#robot?.ordered.sendSession(sessionFrame(this.#session), nowMs)
    if (this.stops.latched) this.stops.unlatch(nowMs)
    this.stops.halt('session_over', nowMs)
    this.broadcastState(nowMs)
    this.disconnectParticipants('sessionOver')
  }

  /** Notes the stop that the database has. */
  setRecordedStop({ eventSeq, reason, byRole, byOwner }: RecordedStop): void {
    const stop = { stopReason: reason, stopByRole: byRole, stopByOwner: byOwner }
    this.#setSession({ ...this.#session, eventSeq, ...stop })
  }

  /** Notes that the database has recorded the first operator. */
  markDriven(): void {
    this.#setSession({ ...this.#session, driven: true })
  }

  #setSession(session: OpenSession): void {
    this.#session = session
    this.stream.setLimits(session)
  }

  #setRules({ controlSchema }: OpenSession): void {
    const rules = controlRulesOf(controlSchema)
    if (rules === this.#rules) return
    this.#rules = rules
    this.#motionLimiter = rules?.createMotionLimiter() ?? null
  }

  #apply(session: OpenSession, nowMs: number): void {
    const before = this.#lastSentStatus
    const { status } = session
    const frameBefore = this.stateFrame()
    this.#setSession(session)
    const cleared = this.stops.applyStored(session.stopReason, nowMs)
    if (status !== 'ACTIVE')
      this.stream.clearMotion(session.stopReason === null ? 'session_paused' : 'stopped')
    this.#setRules(session)
    this.speed.setBudget(session.latencyBudgetMs)
    if (this.#robot && before !== status) {
      this.#lastSentStatus = status
      this.#robot.ordered.sendSession(sessionFrame(session), nowMs)
      this.tellRobotLease(nowMs)
      if (!announceLimits(this, nowMs)) sendLimitsToRobot(this, nowMs)
    } else announceLimits(this, nowMs)
    // Also after a stop was cleared: only the operator, by resuming, allows the robot to move again.
    const motionForbidden = status === 'PAUSED' && !this.stops.latched
    if (motionForbidden && (cleared || (before !== null && before !== status)))
      this.stops.halt('session_paused', nowMs)
    if (status === 'ACTIVE' && this.stops.current?.reason === 'session_paused') this.stops.endHalt()
    this.#updateUnattended(nowMs)
    if (this.stateFrame() !== frameBefore) this.broadcastState(nowMs)
  }

  /** Returns whether the robot was last notified of an earlier ACTIVE period than the present one. */
  #missedPause(session: OpenSession): boolean {
    const active = this.#lastSentStatus === 'ACTIVE' && session.status === 'ACTIVE'
    return active && this.#session.activeSinceMs !== session.activeSinceMs
  }

  /** Whether somebody else than the operator of the session holds control: who is lost must not keep it, in a pause either. */
  get #isLent(): boolean {
    const { holder } = this.#lease
    return this.#session.status === 'PAUSED' && holder !== null && holder.user_id !== this.#session.operatorId
  }

  #updateUnattended(nowMs: number): void {
    const isWaitedFor = this.active ? this.hadOperator : this.#isLent
    const required = isWaitedFor && this.#robot !== null
    if (!required || this.#operator !== null) this.#unattendedSinceMs = 0
    else if (this.#unattendedSinceMs === 0) this.#unattendedSinceMs = nowMs
  }

  /**
   * Adds the connection of a user who may hold control, and closes the one of this user that it replaces. A robot that reports its
   * autonomy halts then. Returns `older`, and closes the new connection instead, if it is the older one: its admission took longer.
   * Returns `full` if too many users are there.
   */
  joinController(connection: ParticipantMember, nowMs: number): 'joined' | 'older' | 'full' {
    const before = this.#controllers.get(connection.account)
    if (before && before.number > connection.number) {
      connection.close('replaced')
      return 'older'
    }
    if (!before && !this.#holds(connection) && this.#controllers.size >= MAX_CONTROLLERS) return 'full'
    // A robot that accepts goals counts on it: until a halt, all numbers are of one connection.
    const drove = before !== undefined && before === this.#operator && this.#robot?.autonomy
    if (drove && this.stops.haltIfMoving('operator_lost', nowMs)) this.broadcastState(nowMs)
    this.#controllers.set(connection.account, connection)
    if (this.#holds(connection)) this.#setOperator(connection)
    connection.enterSession(this)
    before?.leaveSession()
    before?.close('replaced')
    this.#updateUnattended(nowMs)
    return 'joined'
  }

  #holds({ account }: ParticipantMember): boolean {
    return this.#lease.holder?.user_id === account
  }

  // The lease. It changes only through `applyLease`, and only to a higher epoch.

  /**
   * Gives control to another holder, as the database has decided: halts the robot, and tells it and the participants. The connection
   * of the former holder stays, and its commands are dropped.
   */
  applyLease(lease: Lease, nowMs: number): void {
    if (lease.epoch <= this.#lease.epoch) return
    this.#changing.clear()
    if (!this.stops.latched) this.stops.halt('control_transferred', nowMs)
    this.#lease = lease
    this.#setOperator(this.#controllers.get(lease.holder?.user_id ?? '') ?? null)
    if (this.#operator) this.#operatorJoined = true // it joined before it had control
    this.tellRobotLease(nowMs)
    for (const participant of this.participants()) this.tellLease(participant, nowMs)
    this.#updateUnattended(nowMs)
    this.broadcastState(nowMs)
  }

  /**
   * Halts the robot for a user who is about to change who holds control. Until the change is applied, given up, or takes too long, no
   * command passes.
   */
  beginChanging(userId: string, untilMs: number, nowMs: number): void {
    this.#changing.delete(userId) // the one that ends first comes first
    this.isChanging(() => nowMs) // forgets those that took too long
    if (this.#changing.size < MAX_CHANGING) this.#changing.set(userId, untilMs)
    if (this.stops.haltIfMoving('control_transferred', nowMs)) this.broadcastState(nowMs)
    else this.stream.clearMotion('robot_slow') // a command that waits for its robot
  }

  /** Lets commands pass again, after the database has refused the change, unless another user is changing who holds control. */
  endChanging(userId: string): void {
    this.#changing.delete(userId)
  }

  /** Returns whether control is changing hands at this moment. */
  isChanging(nowMs: () => number): boolean {
    if (this.#changing.size === 0) return false
    for (const [userId, untilMs] of this.#changing) {
      if (nowMs() < untilMs) return true
      this.#changing.delete(userId)
    }
    return false
  }

  /** Tells the robot's connection who holds control, unless it knows. Robots of sessions in their first epoch are not told. */
  tellRobotLease(nowMs: number): void {
    if (this.#robot === null || this.#toldEpoch >= this.#lease.epoch) return
    this.#toldEpoch = this.#lease.epoch
    // Not numbered: robots of earlier versions would wait for it. Its epoch is in every command, which fences off earlier ones.
    this.#robot.send(robotLeaseFrame(this.#lease), nowMs)
  }

  /** Tells a participant who holds control. Nobody is told that the operator of an unchanged session does. */
  tellLease(participant: ParticipantMember, nowMs: number): void {
    const isFirst = this.#lease.epoch === FIRST_EPOCH
    if (isFirst && (this.#holds(participant) || !this.#isController(participant))) return
    const isYou = this.#operator === participant
    const last = isYou ? { command: this.#lastCommand, telemetry: this.#lastTelemetry } : undefined
    participant.send(leaseFrame(this.#lease, isYou, last), nowMs)
  }

  #isController(participant: ParticipantMember): boolean {
    return this.#controllers.get(participant.account) === participant
  }

  /** Whether the connection is that of a user who may hold control, but does not. */
  isStandby(participant: ParticipantMember): boolean {
    return this.#operator !== participant && this.#isController(participant)
  }

  /** Keeps the newest telemetry for the next holder. */
  noteTelemetry(frame: string | ArrayBuffer): void {
    this.#lastTelemetry = frame
  }

  /** Adds an observer. Returns false if the session has as many as it may have. */
  joinObserver(connection: ParticipantMember): boolean {
    if (this.#observers.size >= MAX_OBSERVERS) return false
    this.#observers.add(connection)
    connection.enterSession(this)
    return true
  }

  /** Notes that an operator has joined for the first time, also if the database could not record it. */
  noteOperatorJoined(nowMs: number): void {
    this.#operatorJoined = true
    this.#updateUnattended(nowMs)
  }

  /** Removes a participant. Halts the robot if it was the operator. Can be repeated if it fails. */
  leave(connection: ParticipantMember, nowMs: number): void {
    if (this.#operator === connection) {
      this.stops.haltIfMoving('operator_lost', nowMs)
      this.#setOperator(null)
      this.#updateUnattended(nowMs)
      this.broadcastState(nowMs)
    }
    connection.leaveSession()
    if (this.#isController(connection)) this.#controllers.delete(connection.account)
    this.#observers.delete(connection)
  }

  disconnectParticipants(reason: CloseReason): void {
    const participants = [...this.participants()]
    this.#setOperator(null)
    this.#controllers.clear()
    this.#observers.clear()
    for (const participant of participants) {
      participant.leaveSession()
      participant.close(reason)
    }
  }

  #setOperator(connection: ParticipantMember | null): void {
    this.#operator = connection
    this.stream.reset()
    this.latencyRecorder.forgetOperator()
    this.speed.forget()
  }

  stateFrame(): string {
    return stateFrame(this.#session.status, this.robotConnected, this.stops.visible)
  }

  broadcastState(nowMs: number): void {
    this.tap.frame('stop', this.stateFrame())
    // Built for each participant: closing one that is too slow changes the state.
    for (const participant of this.participants()) participant.send(this.stateFrame(), nowMs)
  }

  /** Decides one control frame of the operator, and notes what the next decision needs of it. */
  receiveControl(stamp: Stamp, nowMs: number, isAllowed: () => boolean): 'pass' | DropReason {
    return this.stream.receive(this.#driveState(), stamp, nowMs, isAllowed)
  }

  /** Decides one goal of the operator in a coordinate frame. */
  receiveGoal(stamp: Stamp, frame: string, nowMs: number): 'pass' | DropReason {
    const isAccepted = this.#robot?.autonomy?.goalFrame === frame
    return this.stream.receiveGoal(this.#driveState(), stamp, isAccepted, nowMs)
  }

  #driveState(): DriveState {
    return { connected: this.robotConnected, active: this.active, latched: this.stops.latched }
  }

  /** Notes that a goal was sent to the robot. It ends a stop that is not latched. */
  goalSent(goalId: string, frame: string, nowMs: number): void {
    if (this.robotConnected) this.stream.beginGoal(goalId) // not if the robot was too slow for the frame
    this.#motionLimiter?.reset() // the robot will be in another position
    this.tap.frame('goal', frame)
    if (this.stops.endHalt()) this.broadcastState(nowMs)
  }

  /** Cancels the goal that the robot drives to, if any. */
  cancelGoal(nowMs: number): void {
    const { goalId } = this.stream
    if (goalId === null) return
    const frame = cancelGoalFrame(goalId)
    this.#robot?.ordered.sendStop(frame, nowMs)
    this.stream.endGoal(goalId)
    this.tap.frame('goal', frame)
  }

  /** Notes that a control frame was sent to the robot. It ends a stop that is not latched. */
  controlSent(frame: string | ArrayBuffer, nowMs: number): void {
    this.#lastCommand = frame
    this.stream.setDriven(this.robotConnected) // false if the robot was too slow for the frame
    if (this.stops.endHalt()) this.broadcastState(nowMs)
  }

  /** Halts the robot because control frames have stopped. Returns false if none of them had set it in motion. */
  expireDeadman(nowMs: number): boolean {
    this.stream.expireDeadman()
    return this.stream.driven && this.stops.haltIfMoving('deadman', nowMs)
  }
}
