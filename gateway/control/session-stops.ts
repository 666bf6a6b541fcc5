import type { DriveStop, DropReason, Role, StopReason } from '@wheelhouse/protocol'
import type { OpenSession } from '../../src/modules/presence/index.ts'
import { clearableBy, requesterRole } from '../../src/modules/sessions/index.ts'
import type { OrderedFrames } from '../channel/ordered-frames.ts'
import type { ControlStream } from './control-stream.ts'
import { STOP_CLEARED_FRAME, stopFrame } from './session-frames.ts'

/** How long the process that records a stop may take to report it, before the gateway records it. */
const AWAIT_RECORD_MS = 2_000

/** The stop of a session in the database. */
export interface RecordedStop {
  /** Number of the log entry from which on the stop is in force. */
  readonly eventSeq: number
  readonly reason: string | null
  /** The role of the first requester; null if the platform requested the stop. */
  readonly byRole: Role | null
  /** Whether the owner or an admin is among the requesters. */
  readonly byOwner: boolean
}

/** The session whose robot is stopped. */
interface StoppedSession {
  readonly session: OpenSession
  readonly robot: { readonly ordered: OrderedFrames } | null
  readonly stream: ControlStream
  setRecordedStop(stop: RecordedStop): void
  stateFrame(): string
  broadcastState(nowMs: number): void
}

/** Halts and stops the robot of one session. Each change of the stop is a method here. */
export class SessionStops {
  readonly #owner: StoppedSession
  readonly #latch = new StopLatch()
  readonly #pending: PendingStops

  constructor(owner: StoppedSession) {
    this.#owner = owner
    this.#pending = new PendingStops(owner.session)
  }

  get latched(): boolean {
    return this.#latch.latched
  }

  /** Whether this gateway has a stop that the database does not have yet. */
  get pending(): boolean {
    return !this.#pending.isEmpty
  }

  /** The stop in force, as the robot knows it. */
  get current(): DriveStop | null {
    return this.#latch.stop
  }

  /** The stop as participants see it. It counts as recorded once the database has every request of it. */
  get visible(): DriveStop | null {
    const { stop } = this.#latch
    if (stop === null || !stop.latched) return stop
    const { stopReason, stopByRole, stopByOwner, stopClear } = this.#owner.session
    const localRole = stopReason === null ? this.#pending.requesterRole : null
    return {
      ...stop,
      recorded: stop.recorded && this.#pending.isEmpty,
      by_role: localRole ?? stopByRole,
      clearable_by: clearableBy(stopByOwner || this.#pending.byOwner, stopClear),
    }
  }

  /** Halts the robot until the next control frame or goal. */
  halt(reason: StopReason, nowMs: number): void {
    // Sent first: if sending fails, the robot still counts as moving, and the deadman timer tries again.
    this.#owner.robot?.ordered.sendStop(stopFrame(reason, false), nowMs)
    this.#owner.stream.clearMotion(dropReasonOf(reason))
    this.#latch.halt(reason)
  }

  /** Halts the robot if a control frame or a goal since the last halt may have set it in motion. Returns whether it did. */
  haltIfMoving(reason: StopReason, nowMs: number): boolean {
    if (!this.#owner.stream.moving) return false
    this.halt(reason, nowMs)
    return true
  }

  /** Ends a stop that is not latched. Returns whether there was one. */
  endHalt(): boolean {
    if (this.#latch.stop === null || this.latched) return false
    this.#latch.clear()
    return true
  }

  /** Clears the latched stop. The robot stays halted. */
  unlatch(nowMs: number): void {
    this.#latch.clear()
    this.#owner.robot?.ordered.sendStopCleared(STOP_CLEARED_FRAME, nowMs)
  }

  /**
   * Latches a stop that the database does not have yet. If a stop is latched already, its reason stays and the robot
   * receives it again. The request waits for the database also then: another process may have cleared that stop a moment
   * ago.
   * @param isAwaited whether another process is recording the request, so that this gateway does so only after a while
   */
  request(request: PendingStop, reason: string, nowMs: number, isAwaited = false): void {
    const frameBefore = this.#owner.stateFrame()
    this.#pending.add(request, isAwaited ? nowMs + AWAIT_RECORD_MS : null)
    if (this.latched) this.sendAgain(nowMs)
    else this.#latchStop(reason, false, nowMs)
    if (this.#owner.stateFrame() !== frameBefore) this.#owner.broadcastState(nowMs)
  }

  /** Latches a stop that the database has recorded and that another process reports. */
  applyReported(stop: RecordedStop & { readonly reason: string }, nowMs: number): void {
    const repeated = this.#latch.stop?.recorded === true // otherwise the report is that of the stop latched here
    this.#pending.settleAwaited()
    this.#owner.setRecordedStop(stop)
    if (!this.#latchStop(stop.reason, true, nowMs) && repeated) this.sendAgain(nowMs)
    this.#owner.broadcastState(nowMs)
  }

  /** Handles the report of a stop that is known here already: requested again, or cleared since. */
  reportedAgain(nowMs: number): void {
    const frameBefore = this.#owner.stateFrame()
    const settled = this.#pending.settleAwaited()
    if (settled && !this.pending && this.#owner.session.stopReason === null && this.latched) {
      this.unlatch(nowMs)
      this.halt('session_paused', nowMs)
    }
    this.sendAgain(nowMs)
    if (this.#owner.stateFrame() !== frameBefore) this.#owner.broadcastState(nowMs)
  }

  /** Sends the latched stop again, unless it was sent a moment ago. Does nothing while no stop is latched. */
  sendAgain(nowMs: number): void {
    const stop = this.#latch.takeRequestedAgain(nowMs)
    if (stop) this.#owner.robot?.ordered.sendStop(stopFrame(stop.reason, true), nowMs)
  }

  /** Latches or clears the stop according to the database. Returns whether a stop was cleared. */
  applyStored(reason: string | null, nowMs: number): boolean {
    if (reason !== null) {
      this.#pending.settleAwaited()
      this.#latchStop(reason, true, nowMs)
      return false
    }
    // A pending stop is in force, although the database does not have it yet.
    if (!this.latched || this.pending) return false
    this.unlatch(nowMs)
    return true
  }

  /** Sets the stop that the welcome of the robot's new connection contains. */
  robotConnected(nowMs: number): void {
    const { stopReason } = this.#owner.session
    if (stopReason !== null) this.#latch.latch(stopReason, true, nowMs)
    else if (!this.pending) this.#latch.clear()
    this.#latch.announced(nowMs)
  }

  /** Returns the stop to record now. Call `recorded`, `refused` or `recordingFailed` afterwards. */
  beginRecording(nowMs: number): PendingStop | null {
    return this.#pending.beginRecording(nowMs)
  }

  /** Notes that the database has recorded a stop. */
  recorded(request: PendingStop, eventSeq: number): void {
    this.#pending.recorded()
    this.#latch.markRecorded()
    const { session } = this.#owner
    const { role, byOwner } = this.#pending.authorityOf(request)
    this.#owner.setRecordedStop({
      eventSeq: Math.max(eventSeq, session.eventSeq),
      reason: this.current?.reason ?? null,
      byRole: session.stopReason === null ? role : session.stopByRole,
      byOwner: session.stopByOwner || byOwner,
    })
  }

  /**
   * Clears a stop that the database refuses: the session is over, which the next lookup finds, or its user must not
   * stop it. A stop that another user has requested stays in force.
   */
  refused(nowMs: number): void {
    this.#pending.recorded()
    this.#endRefused(nowMs)
  }

  /** Clears a stop whose sender was refused, unless another one is in force. */
  withdrawn(userId: string, nowMs: number): void {
    const frameBefore = this.#owner.stateFrame()
    if (this.#pending.settleAwaited(userId)) this.#endRefused(nowMs)
    if (this.#owner.stateFrame() !== frameBefore) this.#owner.broadcastState(nowMs)
  }

  #endRefused(nowMs: number): void {
    if (this.pending || this.#owner.session.stopReason !== null || !this.latched) return
    this.unlatch(nowMs)
    this.halt('stop_refused', nowMs)
  }

  /** Prepares the next attempt after the database has failed. */
  recordingFailed(): void {
    this.#pending.recordingFailed()
  }

  /** Sends the latched stop again if the robot has not confirmed it in time. Call it periodically. */
  repeat(nowMs: number): void {
    const stop = this.#latch.takeRepetition(nowMs)
    if (stop) this.#owner.robot?.ordered.repeatStop(stopFrame(stop.reason, true), nowMs)
  }

  /** Ends the repetition: the robot has confirmed its halt, or is disconnected. */
  confirm(): void {
    this.#latch.confirm()
  }

  /** Latches a stop. Returns whether it is new, and was sent to the robot therefore. */
  #latchStop(reason: string, recorded: boolean, nowMs: number): boolean {
    this.#owner.stream.clearMotion('stopped')
    const isNew = this.#latch.latch(reason, recorded, nowMs)
    if (isNew) this.#owner.robot?.ordered.sendStop(stopFrame(reason, true), nowMs)
    return isNew
  }
}

/** Returns why a frame that waits for its robot is dropped when the robot is halted. */
function dropReasonOf(reason: StopReason): DropReason {
  if (reason === 'latency' || reason === 'video_stale') return reason
  if (reason === 'session_paused' || reason === 'session_over') return 'session_paused'
  return reason === 'deadman' ? 'expired' : 'robot_slow'
}

/** The robot must confirm a latched stop within this time, or the gateway sends the stop again. */
const REPEAT_STOP_MS = 1_000
/** A stop that is requested again is sent again at once, but at most this often. */
const MIN_RESEND_MS = 250

/**
 * The stop in force for the robot of one session. A latched stop stays until it is cleared; any other one ends with the
 * next control frame or goal that passes.
 */
class StopLatch {
  #stop: DriveStop | null = null
  /** When the latched stop was last sent; 0 while no stop is latched. */
  #sentMs = 0
  /** Whether the robot still has to confirm the latched stop. */
  #unconfirmed = false

  get stop(): DriveStop | null {
    return this.#stop
  }

  get latched(): boolean {
    return this.#stop?.latched === true
  }

  /** Latches a stop. Returns false if a stop with this reason was latched already, so that the robot knows it. */
  latch(reason: string, recorded: boolean, nowMs: number): boolean {
    const known = this.latched && this.#stop?.reason === reason
    this.#stop = { reason, latched: true, recorded }
    if (!known) this.#markSent(nowMs)
    return !known
  }

  /** Notes a stop that ends with the next control frame or goal, unless a stop is latched. */
  halt(reason: string): void {
    if (!this.latched) this.#stop = { reason, latched: false, recorded: false }
  }

  clear(): void {
    this.#stop = null
    this.#sentMs = 0
    this.#unconfirmed = false
  }

  markRecorded(): void {
    if (this.#stop) this.#stop = { ...this.#stop, recorded: true }
  }

  /** Notes that the robot's new connection learns of the latched stop from its welcome. */
  announced(nowMs: number): void {
    if (this.latched) this.#markSent(nowMs)
  }

  /** Ends the repetition: the robot has confirmed the stop, or is disconnected. */
  confirm(): void {
    this.#unconfirmed = false
  }

  /** Returns the stop to send again now, if one is due. */
  takeRepetition(nowMs: number): DriveStop | null {
    if (!this.#unconfirmed || nowMs - this.#sentMs < REPEAT_STOP_MS) return null
    this.#markSent(nowMs)
    return this.#stop
  }

  /**
   * Returns the stop to send again now because it is requested again: the requester may see a moving robot. Returns
   * null if it was sent a moment ago; it is then repeated later unless the robot confirms it.
   */
  takeRequestedAgain(nowMs: number): DriveStop | null {
    if (!this.latched) return null
    this.#unconfirmed = true
    if (nowMs - this.#sentMs < MIN_RESEND_MS) return null
    this.#markSent(nowMs)
    return this.#stop
  }

  #markSent(nowMs: number): void {
    this.#sentMs = nowMs
    this.#unconfirmed = true
  }
}

/** A stop that was requested at this gateway and that the database does not have yet. */
export interface PendingStop {
  readonly userId: string
  /** The organization that the user acts for. */
  readonly organizationId?: string | undefined
  /** Whether the user has a connection to drive the robot. */
  readonly drives?: boolean | undefined
  /** With what the user is signed in, for the audit log. */
  readonly credential?: string | undefined
  readonly reason: string | undefined
  /** The owner or admin who requested the stop after the operator did. Only the owner's side may clear it then. */
  readonly ownerId?: string | undefined
}

/**
 * The stop requests of one session that the database does not have yet. Merges them into at most two: the request that
 * is being recorded, and all later ones. A merged request contains one reason, the first requester and one owner or
 * admin: these decide who may clear the stop.
 */
class PendingStops {
  readonly #parties: { readonly operatorId: string; readonly clientId: string }
  #first: PendingStop | null = null
  /** Requests since the recording of `#first` began. The stop that it records may be cleared before they arrive. */
  #next: PendingStop | null = null
  #recording = false
  /** Until when another process may record `#first`; null if this gateway records it. */
  #awaitedUntilMs: number | null = null

  constructor({ operatorId, clientId }: { operatorId: string; clientId: string }) {
    this.#parties = { operatorId, clientId }
  }

  get isEmpty(): boolean {
    return this.#first === null
  }

  /** The role of the first requester; null while no request is pending. */
  get requesterRole(): Role | null {
    return this.#first && requesterRole(this.#parties, this.#first)
  }

  /** Whether the owner or an admin is among the requesters. */
  get byOwner(): boolean {
    return this.#ownerOf(this.#first) !== undefined || this.#ownerOf(this.#next) !== undefined
  }

  /** Returns the role in which the first user of a request stops the session, and whether an owner joined it. */
  authorityOf(request: PendingStop): { role: Role; byOwner: boolean } {
    const role = requesterRole(this.#parties, request)
    return { role, byOwner: this.#ownerOf(request) !== undefined }
  }

  /** @param awaitedUntilMs until when another process, which is recording the request, may take; null if this gateway is to record it */
  add(request: PendingStop, awaitedUntilMs: number | null = null): void {
    if (this.#first === null) this.#awaitedUntilMs = awaitedUntilMs
    else if (awaitedUntilMs === null) this.#awaitedUntilMs = null
    if (this.#first === null) this.#first = request
    else if (this.#recording) this.#next = this.#merge(request, this.#next)
    else this.#first = this.#merge(this.#first, request)
  }

  /** Returns the request to record now. Call `recorded` or `recordingFailed` afterwards. */
  beginRecording(nowMs: number): PendingStop | null {
    if (this.#awaitedUntilMs !== null && nowMs < this.#awaitedUntilMs) return null
    this.#awaitedUntilMs = null
    this.#recording = this.#first !== null
    return this.#first
  }

  /** Removes the request that another process has recorded or, with a user, whose request of that user was refused. Returns whether there was one. */
  settleAwaited(userId?: string): boolean {
    if (this.#awaitedUntilMs === null) return false
    if (userId !== undefined && this.#first?.userId !== userId) return false
    this.#first = null
    this.#awaitedUntilMs = null
    return true
  }

  recorded(): void {
    this.#first = this.#next
    this.#next = null
    this.#recording = false
  }

  /** Merges all pending requests into one, which the next attempt records. */
  recordingFailed(): void {
    if (this.#first) this.#first = this.#merge(this.#first, this.#next)
    this.#next = null
    this.#recording = false
  }

  #ownerOf(request: PendingStop | null): string | undefined {
    if (request === null) return undefined
    return requesterRole(this.#parties, request) === 'operator' ? request.ownerId : request.userId
  }

  #merge(request: PendingStop, later: PendingStop | null): PendingStop {
    const ownerId = this.#ownerOf(request) ?? this.#ownerOf(later)
    return ownerId === undefined || ownerId === request.userId ? request : { ...request, ownerId }
  }
}
