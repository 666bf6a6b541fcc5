import type { Role } from '@wheelhouse/protocol'
import { requesterRole } from '../../src/modules/sessions/index.ts'

/** A stop that was requested at this gateway and that the database does not have yet. */
export interface PendingStop {
  readonly userId: string
  readonly reason: string | undefined
  /** The owner or admin who requested the stop after the operator did. Only the owner's side may clear it then. */
  readonly ownerId?: string | undefined
}

/**
 * The stop requests of one session that the database does not have yet. Merges them into at most two: the request that
 * is being recorded, and all later ones. A merged request contains one reason, the first requester and one owner or
 * admin: these decide who may clear the stop.
 */
export class PendingStops {
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
    return this.#first && requesterRole(this.#parties, this.#first.userId)
  }

  /** Whether the owner or an admin is among the requesters. */
  get byOwner(): boolean {
    return this.#ownerOf(this.#first) !== undefined || this.#ownerOf(this.#next) !== undefined
  }

  /** Returns the role in which the first user of a request stops the session, and whether an owner joined it. */
  authorityOf(request: PendingStop): { role: Role; byOwner: boolean } {
    const role = requesterRole(this.#parties, request.userId)
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
    return requesterRole(this.#parties, request.userId) === 'operator' ? request.ownerId : request.userId
  }

  #merge(request: PendingStop, later: PendingStop | null): PendingStop {
    const ownerId = this.#ownerOf(request) ?? this.#ownerOf(later)
    return ownerId === undefined || ownerId === request.userId ? request : { ...request, ownerId }
  }
}
