import type { ToRobotFrame } from '@wheelhouse/protocol'
import type { Evidence } from '../evidence.ts'

interface EmittedState {
  readonly sessionId: string
  readonly atMs: number
}

/**
 * Checks the frames that a robot receives: between a latched stop and its clear, no control may arrive. After the
 * welcome of a new connection without a stop, control is recorded, and the session's log decides whether it was allowed.
 */
export class StopWatch {
  readonly #robotId: string
  readonly #evidence: Pick<Evidence, 'violations' | 'releases'>
  #sessionId: string | null = null
  #stop: EmittedState | null = null
  /** Released by a welcome; no control has arrived since. */
  #released: EmittedState | null = null

  constructor(robotId: string, evidence: Pick<Evidence, 'violations' | 'releases'>) {
    this.#robotId = robotId
    this.#evidence = evidence
  }

  observe(frame: ToRobotFrame, nowMs: number): void {
    if (frame.type === 'welcome') this.#welcome(frame.session?.session_id ?? null, frame.stop, nowMs)
    else if (frame.type === 'session') this.#session(frame.session_id)
    else if (frame.type === 'stop' && frame.latched) this.#stopped(nowMs)
    else if (frame.type === 'stop_cleared') this.#stop = null
    else if (frame.type === 'control') this.#control(frame.session_id, nowMs)
  }

  #welcome(sessionId: string | null, stop: { latched: boolean } | null, nowMs: number): void {
    this.#session(sessionId)
    if (stop?.latched) return this.#stopped(nowMs)
    if (this.#stop) this.#released = this.#stop
    this.#stop = null
  }

  #session(sessionId: string | null): void {
    if (sessionId === this.#sessionId) return
    // A stop ends with its session.
    this.#sessionId = sessionId
    this.#stop = null
    this.#released = null
  }

  #stopped(nowMs: number): void {
    this.#released = null
    if (this.#sessionId !== null) this.#stop ??= { sessionId: this.#sessionId, atMs: nowMs }
  }

  #control(sessionId: string, nowMs: number): void {
    const robotId = this.#robotId
    if (this.#stop?.sessionId === sessionId) {
      const sinceMs = nowMs - this.#stop.atMs
      this.#evidence.violations.add(
        `robot ${robotId} was sent control of session ${sessionId} ${sinceMs} ms after a latched stop`,
      )
    }
    if (this.#released?.sessionId !== sessionId) return
    this.#evidence.releases.push({ robotId, sessionId, stoppedAtMs: this.#released.atMs, drivenAtMs: nowMs })
    this.#released = null
  }
}
