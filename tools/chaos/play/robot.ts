import { ToRobotFrame } from '@wheelhouse/protocol'
import { isStanding, SimulatedRobot } from '@wheelhouse/sdk'
import { type ClientOptions, WebSocket } from 'ws'
import type { CastRobot } from '../cast.ts'
import { type Evidence, GAP_MS } from '../evidence.ts'
import type { SocketWire } from '../wire.ts'
import { StopWatch } from './stop-watch.ts'

const LOOK_EVERY_MS = 20
/** Deadman, the robot's own margin, braking from full speed, and two steps of the physics. */
const LONGEST_MOTION_MS = 250 + 250 + 500 + 40
const RECONNECT = { baseMs: 100, maxMs: 1_500 }

/** One simulated robot, and what its socket hears. */
export class PlayedRobot {
  readonly cast: CastRobot
  readonly #evidence: Evidence
  readonly #simulated: SimulatedRobot
  readonly #stops: StopWatch
  #lookTimer: NodeJS.Timeout | undefined
  #lookedMs = 0
  #controlMs = 0
  #wanted = false
  /** When it was last driven since then; 0 before the first control frame. */
  #obeyedMs = 0
  #excused = false
  /** Control frames that it was sent. */
  controls = 0
  connected = false

  constructor(parts: { cast: CastRobot; gatewayUrl: string; wire: SocketWire; evidence: Evidence }) {
    const { cast, gatewayUrl, wire, evidence } = parts
    this.cast = cast
    this.#evidence = evidence
    this.#stops = new StopWatch(cast.id, evidence)
    const heard = (frame: ToRobotFrame) => this.#heard(frame)
    class OverheardSocket extends WebSocket {
      constructor(url: string, options: ClientOptions) {
        super(url, options)
        wire.add(this)
        this.on('message', (data, isBinary) => {
          const frame = isBinary ? null : ToRobotFrame.safeParse(JSON.parse(String(data)))
          if (frame?.success) heard(frame.data)
        })
      }
    }
    this.#simulated = new SimulatedRobot({
      ...{ url: `${gatewayUrl}/robots/${cast.id}/control`, token: cast.token, reconnect: RECONNECT },
      ...{ WebSocket: OverheardSocket, telemetryHz: 5 },
      onConnection: (state) => {
        this.connected = state === 'online'
      },
      onError: () => {}, // a gateway that goes says so in many ways
      onClosed: ({ reason }) => {
        if (reason !== 'closed by its user') evidence.sights.add(`robot ${cast.id} gave up: ${reason}`)
      },
    })
  }

  /** Connects; settles with the first welcome. */
  async start(): Promise<void> {
    this.#lookedMs = performance.now()
    this.#lookTimer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    await this.#simulated.start()
  }

  async close(): Promise<void> {
    clearInterval(this.#lookTimer)
    this.connected = false
    await this.#simulated.close()
  }

  /** Somebody wants to drive it. */
  get isWanted(): boolean {
    return this.#wanted
  }

  /** Somebody wants to drive it, and does. */
  get isDriven(): boolean {
    return this.#wanted && Date.now() - this.#obeyedMs <= GAP_MS
  }

  /** From now on somebody wants to drive it all the time, and their first control frame begins it; or no more. */
  wanted(wish: boolean): void {
    this.#wanted = wish
    this.#obeyedMs = 0
    this.#excused = false
  }

  /** Somebody is about to stop or pause it on purpose: until it is driven again, silence is no gap. */
  excuse(): void {
    this.#excused = true
  }

  #heard(frame: ToRobotFrame): void {
    this.#stops.heard(frame, Date.now())
    if (frame.type !== 'control') return
    this.controls++
    this.#controlMs = performance.now()
    if (!this.#wanted) return
    const nowMs = Date.now()
    const fromMs = this.#obeyedMs
    this.#obeyedMs = nowMs
    if (fromMs === 0 || nowMs - fromMs <= GAP_MS) return
    if (!this.#excused) this.#evidence.gaps.push({ robotId: this.cast.id, fromMs, toMs: nowMs })
    this.#excused = false
  }

  /** A robot that goes on moving without control is what must never be. */
  #look(): void {
    const nowMs = performance.now()
    // What this process slept through is not the robot's fault: its timers slept as well.
    const sleptMs = Math.max(0, nowMs - this.#lookedMs - LOOK_EVERY_MS)
    this.#lookedMs = nowMs
    this.#controlMs += sleptMs
    if (this.#obeyedMs > 0) this.#obeyedMs += sleptMs
    if (isStanding(this.#simulated.state) || nowMs - this.#controlMs <= LONGEST_MOTION_MS) return
    const sinceMs = Math.round(nowMs - this.#controlMs)
    this.#evidence.sights.add(`robot ${this.cast.id} still moved ${sinceMs} ms after its last control frame`)
    this.#controlMs = nowMs // told once
  }
}
