import { credentialName } from '../../src/core/permissions/authorization.ts'
import type { TicketClaims } from '../../src/modules/sessions/index.ts'
import type { ParticipantMember } from '../control/control-session.ts'
import { SessionMember } from '../control/control-session.ts'
import type { PendingStop } from '../control/session-stops.ts'

/** One connection of an operator or an observer to one session. */
export class ParticipantConnection extends SessionMember implements ParticipantMember {
  readonly ticketClaims: TicketClaims
  readonly openedMs: number
  #number = 0
  /** When the admission is tried again; 0 while no retry is due. */
  #retryAtMs = 0
  #bufferedTelemetry: string | ArrayBuffer | null = null
  #missedAutonomy = false
  /** The highest number of a control frame, and of a stop request, that arrived over any transport; -1 before the first one. */
  #newestControl = -1
  #newestStop = -1
  /** Whether the connection has had a data channel, so that frames may arrive twice or be overtaken. */
  #unordered = false
  #earlyStop: { readonly reason: string | undefined } | null = null

  constructor(ticketClaims: TicketClaims, nowMs: number) {
    super(nowMs)
    this.openedMs = nowMs
    this.ticketClaims = ticketClaims
  }

  get account(): string {
    return this.ticketClaims.userId
  }

  get isProgram(): boolean {
    return this.ticketClaims.isProgram === true
  }

  /** Who requests a stop through this connection. */
  get requester(): Omit<PendingStop, 'reason'> & { readonly organizationId: string } {
    const { userId, organizationId } = this.ticketClaims
    return {
      userId,
      organizationId,
      drives: this.isOperator,
      credential: credentialName(this.ticketClaims),
    }
  }

  /** The API key or the sign-in with which the connection ends; undefined for a session of the platform's provider. */
  get credentialId(): string | undefined {
    return this.ticketClaims.apiKeyId ?? this.ticketClaims.signInId
  }

  /** Whether the connection is that of somebody who may hold control. */
  get isOperator(): boolean {
    return this.ticketClaims.part === 'control'
  }

  get number(): number {
    return this.#number
  }

  /** Sets the order of the connection among all that opened at this gateway. */
  assignNumber(number: number): void {
    this.#number = number
  }

  scheduleRetry(atMs: number): void {
    this.#retryAtMs = atMs
  }

  /** Notes that the admission is being tried, so that no retry is due. */
  beginAdmission(): void {
    this.#retryAtMs = 0
  }

  isRetryDue(nowMs: number): boolean {
    return this.#retryAtMs > 0 && nowMs >= this.#retryAtMs
  }

  /** Notes that frames may arrive over two transports from now on. */
  beginUnordered(): void {
    this.#unordered = true
  }

  /** Returns false for a control frame to ignore: it is a copy, or a newer one has overtaken it on the other transport. */
  isNewControl(seq: number): boolean {
    const newer = seq > this.#newestControl
    if (newer) this.#newestControl = seq
    return newer || !this.#unordered
  }

  /** Returns false for the second copy of a stop request. Requests without a number always count. */
  isNewStop(number: number | undefined): boolean {
    if (number === undefined) return true
    const newer = number > this.#newestStop
    if (newer) this.#newestStop = number
    return newer
  }

  /** Buffers the newest telemetry for a participant that does not read. */
  bufferTelemetry(frame: string | ArrayBuffer): void {
    this.#bufferedTelemetry = frame
  }

  takeBufferedTelemetry(): string | ArrayBuffer | null {
    const frame = this.#bufferedTelemetry
    this.#bufferedTelemetry = null
    return frame
  }

  /** Whether the newest report of the robot's autonomy was not sent. */
  get missedAutonomy(): boolean {
    return this.#missedAutonomy
  }

  noteMissedAutonomy(missed: boolean): void {
    this.#missedAutonomy = missed
  }

  /** Whether the participant requested a stop before the connection was admitted. */
  get hasEarlyStop(): boolean {
    return this.#earlyStop !== null
  }

  /** Notes a stop that arrives before the admission. The first one counts. */
  noteEarlyStop(reason: string | undefined): void {
    this.#earlyStop ??= { reason }
  }

  takeEarlyStop(): { readonly reason: string | undefined } | null {
    const earlyStop = this.#earlyStop
    this.#earlyStop = null
    return earlyStop
  }
}
