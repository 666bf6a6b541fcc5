import type { Bus } from '../../src/core/events/bus.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { OpenSession } from '../../src/modules/presence/index.ts'
import type { SampleWriter } from '../../src/modules/recordings/transport/index.ts'
import { FLAG_BINARY, type SampleKind, sampleKinds } from '../../src/modules/recordings/transport/index.ts'

/** The part of a stream of samples that a tap uses. */
type TapSamples = Pick<SampleWriter, 'write' | 'close'>

const NO_DETAIL = Number.NaN

/** Where the samples of a session go: into a recording, only to live readers, or nowhere. */
type TapMode = 'off' | 'live' | 'stored'

/** Sends to a recorder what happens in one session. The control relay calls it for every frame. */
export class SessionTap {
  #stream: TapSamples | null = null
  #mode: TapMode = 'off'

  get mode(): TapMode {
    return this.#mode
  }

  /** Begins to send. `state` is the state frame at this moment. */
  begin(stream: TapSamples, mode: 'live' | 'stored', state: string): void {
    this.end()
    this.#stream = stream
    this.#mode = mode
    this.frame('stop', state)
  }

  end(): void {
    this.#stream?.close()
    this.#stream = null
    this.#mode = 'off'
  }

  /** Records a control frame that was sent to the robot, with its age in milliseconds. */
  passed(frame: string | ArrayBuffer, ageMs: number): void {
    if (this.#stream) this.#write('control', frame, ageMs, '')
  }

  /**
   * Records a control frame that did not reach the robot, and why.
   * @param policyId the service account whose command it is, if that is a policy that does not hold control
   */
  dropped(frame: string | ArrayBuffer, why: string, policyId?: string): void {
    if (this.#stream)
      this.#write('dropped', frame, NO_DETAIL, policyId === undefined ? why : `${why} ${policyId}`)
  }

  /** Records a sample, with its age in milliseconds; NaN if that is unknown. */
  telemetry(frame: string | ArrayBuffer, ageMs: number): void {
    if (this.#stream) this.#write('telemetry', frame, ageMs, '')
  }

  /** Records a goal, the end of one, or a frame that participants receive: limits, latency, autonomy or the state with its stop. */
  frame(kind: 'limits' | 'latency' | 'stop' | 'goal' | 'autonomy', frame: string): void {
    if (this.#stream) this.#write(kind, frame, NO_DETAIL, '')
  }

  #write(kind: SampleKind, frame: string | ArrayBuffer, detail: number, note: string): void {
    const isText = typeof frame === 'string'
    this.#stream?.write({
      kind: sampleKinds[kind],
      flags: isText ? 0 : FLAG_BINARY,
      detail,
      note,
      payload: isText ? frame : new Uint8Array(frame),
    })
  }
}

/** A control session, as its recording sees it. */
interface TappedSession {
  readonly session: Pick<OpenSession, 'id' | 'status' | 'recording'>
  readonly robotConnected: boolean
  readonly robot: { readonly autonomy: { readonly frame: string } | null } | null
  readonly tap: SessionTap
  /** Returns the frame that participants receive when the session changes. */
  stateFrame(): string
}

/** The open sessions whose robots are connected here. */
export interface TappedSessions {
  all(): Iterable<TappedSession>
  of(sessionId: string): TappedSession | undefined
}

/** Sessions with live readers. Beyond it, the oldest is forgotten: its readers ask again. */
const MAX_TAILED = 10_000
/** Live readers repeat their announcement. After this time without one, the tap of a session ends. */
const LONGEST_TAIL_MS = 30_000

/** Opens a stream to a recorder. */
type OpenSampleStream = (options: {
  readonly sessionId: string
  readonly source: string
  readonly stored: boolean
}) => TapSamples

/** Taps the sessions that are recorded, or that have live readers. */
export function createSessionTaps(deps: {
  sessionRegistry: TappedSessions
  open: OpenSampleStream
  guard: Guard
  clockMs: () => number
}) {
  const { sessionRegistry, open, guard, clockMs } = deps
  /** Until when a session has live readers, in the gateway's clock. */
  const tailedUntilMs = new Map<string, number>()

  const isTailed = (sessionId: string) => (tailedUntilMs.get(sessionId) ?? 0) > clockMs()

  /** Begins or ends the tap of a session, as its robot's setting and its readers require. */
  function sync(controlSession: TappedSession): void {
    const { id, status, recording } = controlSession.session
    const isOpen = (status === 'ACTIVE' || status === 'PAUSED') && controlSession.robotConnected
    const mode: TapMode = !isOpen ? 'off' : recording !== 'off' ? 'stored' : isTailed(id) ? 'live' : 'off'
    const { tap } = controlSession
    if (tap.mode === mode) return
    if (mode === 'off') return tap.end()
    const stream = open({ sessionId: id, source: 'gateway', stored: mode === 'stored' })
    tap.begin(stream, mode, controlSession.stateFrame())
    const autonomy = controlSession.robot?.autonomy
    if (autonomy) tap.frame('autonomy', autonomy.frame)
  }

  return {
    /** Call it when a session has changed. */
    sync,

    /** Applies the readers of sessions, and what no call has reported. Call it periodically. */
    syncAll(): void {
      for (const [sessionId, untilMs] of tailedUntilMs)
        if (untilMs <= clockMs()) tailedUntilMs.delete(sessionId)
      for (const controlSession of sessionRegistry.all()) sync(controlSession)
    },

    /** Subscribes to the readers of sessions; returns a function that unsubscribes. */
    listen: (bus: Bus): (() => void) =>
      guard.subscribe(bus, 'session.tailed', ({ sessionId, untilMs }) => {
        const forMs = Math.min(untilMs - Date.now(), LONGEST_TAIL_MS) // the clocks of two processes differ by less than matters here
        tailedUntilMs.delete(sessionId)
        tailedUntilMs.set(sessionId, clockMs() + forMs)
        const oldest = tailedUntilMs.keys().next().value
        if (tailedUntilMs.size > MAX_TAILED && oldest !== undefined) tailedUntilMs.delete(oldest)
        const controlSession = sessionRegistry.of(sessionId)
        if (controlSession) sync(controlSession)
      }),
  }
}
