import { GatewayConnection } from '../base/connection.ts'
import type { ControlSession } from './control-session.ts'

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
