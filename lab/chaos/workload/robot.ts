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

/** One simulated robot, and what its socket receives. */
export class LoadRobot {
  readonly fixture: FixtureRobot
  readonly #evidence: Evidence
  readonly #simulated: SimulatedRobot
  readonly #stops: StopWatch
  #pollTimer: NodeJS.Timeout | undefined
  #lookedMs = 0
  #controlMs = 0
  #wanted = false
  /** Time of the last control frame since then; 0 before the first. */
  #obeyedMs = 0
  #interruptionExpected = false
  /** Control frames that it received. */
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
      PeerConnection: null, // frames of a data channel would not be observed
      telemetryHz: 5,
      onConnection: (state) => {
        this.connected = state === 'online'
      },
      onError: () => {}, // a gateway that ends causes various errors
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

  /** Whether an operator intends to drive it. */
  get isWanted(): boolean {
    return this.#wanted
  }

  /** Whether an operator intends to drive it, and it receives control. */
  get isDriven(): boolean {
    return this.#wanted && Date.now() - this.#obeyedMs <= GAP_MS
  }

  /** Starts or ends the time in which an operator drives it; it begins with the operator's first control frame. */
  wanted(requested: boolean): void {
    this.#wanted = requested
    this.#obeyedMs = 0
    this.#interruptionExpected = false
  }

  /** Expects a stop or pause on purpose: silence is not a gap until the next control frame. */
  expectInterruption(): void {
    this.#interruptionExpected = true
  }

  #onFrame(frame: ToRobotFrame): void {
    this.#stops.observe(frame, Date.now())
    if (frame.type !== 'control') return
    this.controls++
    this.#noteCommand(frame)
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

  /** Notes a numbered command for the comparison with the recording. */
  #noteCommand({ session_id: sessionId, data }: Extract<ToRobotFrame, { type: 'control' }>): void {
    const step = (data as { step?: unknown } | null)?.step
    if (typeof step !== 'number') return
    const commands = this.#evidence.commands.get(sessionId) ?? new Map<number, number>()
    this.#evidence.commands.set(sessionId, commands)
    commands.set(step, Date.now())
  }

  /** Records a robot that still moves without control. */
  #poll(): void {
    const nowMs = performance.now()
    // This process may have been suspended; its timers were suspended with it.
    const sleptMs = Math.max(0, nowMs - this.#lookedMs - POLL_INTERVAL_MS)
    this.#lookedMs = nowMs
    this.#controlMs += sleptMs
    if (this.#obeyedMs > 0) this.#obeyedMs += sleptMs
    if (isHalted(this.#simulated.state) || nowMs - this.#controlMs <= LONGEST_MOTION_MS) return
    const sinceMs = Math.round(nowMs - this.#controlMs)
    this.#evidence.violations.add(
      `robot ${this.fixture.id} still moved ${sinceMs} ms after its last control frame`,
    )
    this.#controlMs = nowMs // reported once
  }
}
