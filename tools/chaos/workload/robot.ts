import { ToRobotFrame } from '@wheelhouse/protocol'
import { isHalted, SimulatedRobot } from '@wheelhouse/sdk'
import { type ClientOptions, WebSocket } from 'ws'
import type { SocketWire } from '../cuttable-connections.ts'
import { type Evidence, GAP_MS } from '../evidence.ts'
import type { FixtureRobot } from '../fixtures.ts'
import { StopWatch } from './stop-monitor.ts'

const POLL_INTERVAL_MS = 20
/** Deadman, the robot's own margin, braking from full speed, and two steps of the physics. */
const LONGEST_MOTION_MS = 250 + 250 + 500 + 40
const RECONNECT = { baseMs: 100, maxMs: 1_500 }

/** One simulated robot, and what its socket hears. */
export class LoadRobot {
  readonly fixture: FixtureRobot
  readonly #evidence: Evidence
  readonly #simulated: SimulatedRobot
  readonly #stops: StopWatch
  #pollTimer: NodeJS.Timeout | undefined
  #lookedMs = 0
  #controlMs = 0
  #wanted = false
  /** When it was last driven since then; 0 before the first control frame. */
  #obeyedMs = 0
  #interruptionExpected = false
  /** Control frames that it was sent. */
  controls = 0
  connected = false

  constructor(parts: { fixtures: FixtureRobot; gatewayUrl: string; wire: SocketWire; evidence: Evidence }) {
    const { fixtures: fixture, gatewayUrl, wire, evidence } = parts
    this.fixture = fixture
    this.#evidence = evidence
    this.#stops = new StopWatch(fixture.id, evidence)
    const received = (frame: ToRobotFrame) => this.#onFrame(frame)
    class ObservedWebSocket extends WebSocket {
      constructor(url: string, options: ClientOptions) {
        super(url, options)
        wire.add(this)
        this.on('message', (data, isBinary) => {
          const frame = isBinary ? null : ToRobotFrame.safeParse(JSON.parse(String(data)))
          if (frame?.success) received(frame.data)
        })
      }
    }
    this.#simulated = new SimulatedRobot({
      url: `${gatewayUrl}/robots/${fixture.id}/control`,
      token: fixture.token,
      reconnect: RECONNECT,
      WebSocket: ObservedWebSocket,
      telemetryHz: 5,
      onConnection: (state) => {
        this.connected = state === 'online'
      },
      onError: () => {}, // a gateway that goes says so in many ways
      onClosed: ({ reason }) => {
        if (reason !== 'closed by its user') evidence.violations.add(`robot ${fixture.id} gave up: ${reason}`)
      },
    })
  }

  /** Connects; settles with the first welcome. */
  async start(): Promise<void> {
    this.#lookedMs = performance.now()
    this.#pollTimer = setInterval(() => this.#poll(), POLL_INTERVAL_MS)
    await this.#simulated.start()
  }

  async close(): Promise<void> {
    clearInterval(this.#pollTimer)
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
  wanted(requested: boolean): void {
    this.#wanted = requested
    this.#obeyedMs = 0
    this.#interruptionExpected = false
  }

  /** Somebody is about to stop or pause it on purpose: until it is driven again, silence is no gap. */
  expectInterruption(): void {
    this.#interruptionExpected = true
  }

  #onFrame(frame: ToRobotFrame): void {
    this.#stops.observe(frame, Date.now())
    if (frame.type !== 'control') return
    this.controls++
    this.#controlMs = performance.now()
    if (!this.#wanted) return
    const nowMs = Date.now()
    const fromMs = this.#obeyedMs
    this.#obeyedMs = nowMs
    if (fromMs === 0 || nowMs - fromMs <= GAP_MS) return
    if (!this.#interruptionExpected)
      this.#evidence.gaps.push({ robotId: this.fixture.id, fromMs, toMs: nowMs })
    this.#interruptionExpected = false
  }

  /** A robot that goes on moving without control is what must never be. */
  #poll(): void {
    const nowMs = performance.now()
    // What this process slept through is not the robot's fault: its timers slept as well.
    const sleptMs = Math.max(0, nowMs - this.#lookedMs - POLL_INTERVAL_MS)
    this.#lookedMs = nowMs
    this.#controlMs += sleptMs
    if (this.#obeyedMs > 0) this.#obeyedMs += sleptMs
    if (isHalted(this.#simulated.state) || nowMs - this.#controlMs <= LONGEST_MOTION_MS) return
    const sinceMs = Math.round(nowMs - this.#controlMs)
    this.#evidence.violations.add(
      `robot ${this.fixture.id} still moved ${sinceMs} ms after its last control frame`,
    )
    this.#controlMs = nowMs // told once
  }
}
