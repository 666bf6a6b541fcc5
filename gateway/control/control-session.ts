import type {
  CloseReason,
  DriveStop,
  RobotSession,
  Role,
  SessionStatus,
  StopReason,
} from '@wheelhouse/protocol'
import type { OpenSession } from '../../src/modules/presence/presence.store.ts'
import { clearableBy, requesterRole } from '../../src/modules/sessions/stop-authority.ts'
import type { GatewayConnection } from '../connections/connection.ts'
import type { Gate } from './gate.ts'
import { createLatencyRecorder, type LatencyRecorder } from './latency-recorder.ts'

/** How long a robot may take to stand and say so before it is told of its latched stop again. */
const REPEAT_STOP_MS = 1_000

/** A robot's connection, as its session sees it. */
export interface RobotMember extends GatewayConnection {
  controlSession: ControlSession | null
  /** Charge as last reported, 0 to 1, and when; -1 while unknown. */
  readonly battery: number
  readonly batteryMs: number
}
/** An operator's connection, or a watcher's. */
export interface ParticipantMember extends GatewayConnection {
  controlSession: ControlSession | null
  /** The higher, the newer. */
  readonly number: number
  /** The newest sample of telemetry that it has not been sent yet, because it does not read. */
  bufferedTelemetry: string | ArrayBuffer | null
}

/** A control frame that waits until its robot reads again. */
export interface BufferedControl {
  readonly frame: string | ArrayBuffer
  readonly seq: number
  /** When it was made, as far as its age tells, and until when it may pass; both in the relay's clock. */
  readonly createdAtMs: number
  readonly validUntilMs: number
}

/** A stop that somebody pressed at this gateway and that the database does not have yet. */
export interface PendingStop {
  readonly userId: string
  readonly reason: string | undefined
  /** The owner or an admin who requested it as well, after the operator did: it is theirs to clear then. */
  readonly ownerId?: string | undefined
}

/**
 * One open session at the gateway that holds its robot, or held it a moment ago: who takes part in it, what the
 * robot has been told, and what decides over control. All that driving needs is here, so neither the database nor
 * another process is asked for a frame.
 */
export class ControlSession implements Gate {
  readonly robotId: string
  /** How many began here before it: what is done for every session now and then is spread by it. */
  readonly ordinal: number
  /** As the database had it when it was last looked up. */
  session: OpenSession
  robot: RobotMember | null = null
  operator: ParticipantMember | null = null
  /** An operator's socket was here, whether or not the database knows. */
  operatorJoined = false
  readonly observers = new Set<ParticipantMember>()
  /** The status that the robot was told last; null when it was told of no session yet. */
  lastSentStatus: SessionStatus | null = null
  /** The stop that the robot stands under, as it was last told. */
  stop: DriveStop | null = null
  /** When the robot was last told of its latched stop; 0 once it has said that it stands, or while none is latched. */
  stopSentMs = 0
  pendingStop: PendingStop | null = null
  /** It is on its way to the database. */
  recordingStop = false
  /** Another one, pressed since that one set out: that one may be cleared already, for all we know. */
  nextPendingStop: PendingStop | null = null
  /** When the database was last told of one as soon as it was pressed. */
  lastStopRequestMs = 0
  /** A control frame has passed since the robot was last told to stand. */
  moving = false
  /** When a control frame last passed, and on the operator's link the fastest one; in the relay's clock. */
  lastPassMs = 0
  lastSeq = -1
  offsetMs = Number.POSITIVE_INFINITY
  offsetSeenMs = 0
  tooLate = false
  deadman: NodeJS.Timeout | undefined = undefined
  bufferedControl: BufferedControl | null = null
  /** Since when the session needs an operator's socket and has none; 0 while it has one, or needs none. */
  unattendedSinceMs = 0
  /** The charge that participants were sent last, and when; -1 before the first. */
  sentBattery = -1
  sentBatteryMs = 0
  readonly latencyRecorder: LatencyRecorder = createLatencyRecorder()

  constructor(robotId: string, ordinal: number, session: OpenSession) {
    this.robotId = robotId
    this.ordinal = ordinal
    this.session = session
  }

  *participants(): Iterable<ParticipantMember> {
    if (this.operator) yield this.operator
    yield* this.observers
  }

  get hasNoParticipants(): boolean {
    return this.operator === null && this.observers.size === 0
  }

  get robotConnected(): boolean {
    return this.robot !== null
  }

  get active(): boolean {
    return this.session.status === 'ACTIVE'
  }

  get stopLatched(): boolean {
    return this.stop?.latched === true
  }

  get pathMs(): number {
    return this.latencyRecorder.pathMs()
  }

  get latencyLimitMs(): number {
    return this.session.latencyLimitMs
  }

  /** Forgets what it knew of an operator's link: the next one counts and keeps time anew. */
  setOperator(connection: ParticipantMember | null): void {
    this.operator = connection
    this.bufferedControl = null
    this.lastSeq = -1
    this.offsetMs = Number.POSITIVE_INFINITY
    this.tooLate = false
    this.latencyRecorder.forgetOperator()
  }

  /** Returns in which part a user requests a stop of this session. */
  roleOf(userId: string): Role {
    return requesterRole(this.session, userId)
  }

  /** Who requested the latched stop, here or as the database says, and who may therefore clear it. */
  private get stopAuthority(): Pick<DriveStop, 'by_role' | 'clearable_by'> {
    const { stopReason, stopByRole, stopByOwner, stopClear } = this.session
    const pending = [this.pendingStop, this.nextPendingStop].filter((request) => request !== null)
    const [first] = pending
    const byOwner = pending.some(
      (request) => request.ownerId !== undefined || this.roleOf(request.userId) !== 'operator',
    )
    const localRole = stopReason === null && first ? this.roleOf(first.userId) : null
    return {
      by_role: localRole ?? stopByRole,
      clearable_by: clearableBy(stopByOwner || byOwner, stopClear),
    }
  }

  /**
   * The stop as people are told of it. One that was pressed again counts as recorded only when the last press is: the
   * stop that stood may be cleared by now, for all we know.
   */
  private get publicStop(): DriveStop | null {
    if (this.stop === null || !this.stopLatched) return this.stop
    const recorded = this.stop.recorded && this.pendingStop === null
    return { ...this.stop, recorded, ...this.stopAuthority }
  }

  stateFrame(): string {
    const { status } = this.session
    return JSON.stringify({
      type: 'state',
      status,
      robot_connected: this.robotConnected,
      stop: this.publicStop,
    })
  }

  /** Tells everybody who takes part how things stand. */
  broadcastState(nowMs: number): void {
    // Made anew for each: who is too slow for it is closed, and that changes how things stand.
    for (const participant of this.participants()) participant.send(this.stateFrame(), nowMs)
  }

  /** Tells the robot to stand until control comes. It may be told twice; that is the caller's to avoid. */
  halt(reason: StopReason, nowMs: number): void {
    // Sent first: should that fail, the robot still counts as moving, and the deadman tries again.
    this.robot?.send(JSON.stringify({ type: 'stop', reason, latched: false }), nowMs)
    this.clearMotion()
    if (!this.stopLatched) this.stop = { reason, latched: false, recorded: false }
  }

  /** Tells the robot to stand, if anything it was told since the last time may have moved it. */
  haltIfMoving(reason: StopReason, nowMs: number): boolean {
    if (!this.moving) return false
    this.halt(reason, nowMs)
    return true
  }

  /** Latches a stop, unless one with this reason is; the robot hears of it before anything else. */
  latch(reason: string, recorded: boolean, nowMs: number): void {
    this.clearMotion()
    const known = this.stopLatched && this.stop?.reason === reason
    this.stop = { reason, latched: true, recorded }
    if (known) return
    this.stopSentMs = nowMs
    this.robot?.send(JSON.stringify({ type: 'stop', reason, latched: true }), nowMs)
  }

  /** Takes the latched stop away. The robot stands on. */
  unlatch(nowMs: number): void {
    this.stop = null
    this.stopSentMs = 0
    this.robot?.send('{"type":"stop_cleared"}', nowMs)
  }

  /** Tells the robot once more of its latched stop, unless it has said that it stands. Call it again and again. */
  repeatStop(nowMs: number): void {
    if (this.stopSentMs === 0 || nowMs - this.stopSentMs < REPEAT_STOP_MS || !this.stop) return
    this.stopSentMs = nowMs
    const { reason } = this.stop
    this.robot?.sendIfFlowing(JSON.stringify({ type: 'stop', reason, latched: true }), nowMs)
  }

  /** Nothing that came before may move the robot any more. */
  clearMotion(): void {
    this.moving = false
    this.bufferedControl = null
    clearTimeout(this.deadman)
    this.deadman = undefined
  }

  /** Sends everybody away. */
  disconnectParticipants(reason: CloseReason): void {
    const participants = [...this.participants()]
    this.setOperator(null)
    this.observers.clear()
    for (const participant of participants) {
      participant.controlSession = null
      participant.close(reason)
    }
  }
}

/** An open session as its robot is told of it. */
export function robotSession({ id, status, operatorName }: OpenSession): RobotSession {
  return { session_id: id, status, operator_name: operatorName }
}

/** A latched stop as a robot is told of it: it stands until `stop_cleared`. */
export function latchedStop(stop: DriveStop | null): { reason: string; latched: true } | null {
  return stop?.latched ? { reason: stop.reason, latched: true } : null
}
