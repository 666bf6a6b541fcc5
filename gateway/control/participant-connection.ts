import type { TicketClaims } from '../../src/modules/sessions/index.ts'
import { GatewayConnection } from '../connections/connection.ts'
import type { ControlSession, ParticipantMember } from './control-session.ts'

/** One connection of an operator or a watcher to one session. */
export class ParticipantConnection extends GatewayConnection implements ParticipantMember {
  /** What its ticket admits to. */
  readonly ticketClaims: TicketClaims
  /** The session it takes part in; null before the gateway has found it, and once it has left. */
  controlSession: ControlSession | null = null
  number = 0
  readonly openedMs: number
  /** When its admission is tried again; 0 while none is due. */
  retryAtMs = 0
  bufferedTelemetry: string | ArrayBuffer | null = null
  /** A stop that came before the link was admitted, and when. */
  earlyStop: { readonly reason: string | undefined } | null = null

  constructor(ticketClaims: TicketClaims, nowMs: number) {
    super(nowMs)
    this.openedMs = nowMs
    this.ticketClaims = ticketClaims
  }

  get isOperator(): boolean {
    return this.ticketClaims.part === 'control'
  }
}
