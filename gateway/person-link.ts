import type { Admission } from '../src/modules/sessions/control/ticket.ts'
import type { Drive, PersonMember } from './drive.ts'
import { Link } from './link.ts'

/** One connection of an operator or a watcher to one session. */
export class PersonLink extends Link implements PersonMember {
  /** What its ticket admits to. */
  readonly admission: Admission
  /** The session it takes part in; null before the gateway has found it, and once it has left. */
  drive: Drive | null = null
  number = 0
  readonly openedMs: number
  /** When its admission is tried again; 0 while none is due. */
  retryAtMs = 0
  heldTelemetry: string | ArrayBuffer | null = null
  /** A stop that came before the link was admitted, and when. */
  earlyStop: { readonly reason: string | undefined } | null = null

  constructor(admission: Admission, nowMs: number) {
    super(nowMs)
    this.openedMs = nowMs
    this.admission = admission
  }

  get isOperator(): boolean {
    return this.admission.part === 'control'
  }
}
