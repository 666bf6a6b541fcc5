import { createHistogram, monitorEventLoopDelay, type RecordableHistogram } from 'node:perf_hooks'
import type { RobotCallbacks, RobotSocket } from './robot-socket.ts'
import { heartbeatFrame, heartbeatsFrame, pingFrame } from './wire.ts'

const TICK_MS = 2
const KEEP_ALIVE_TICK_MS = 50

/** Result of a generator, with its own lateness, which would otherwise be attributed to the server. */
export interface BeatReport {
  readonly sent: number
  readonly acked: number
  /** Time of the counts: `performance.timeOrigin + performance.now()`. */
  readonly atMs: number
  readonly open: number
  /** Delay of beats against their schedule. */
  readonly latenessP99Ms: number
  readonly latenessMaxMs: number
  /** The longest pause of the generator itself. */
  readonly pauseMaxMs: number
  /** Time from sending a beat to its acknowledgement. */
  readonly ackP50Ms: number
  readonly ackP99Ms: number
}

export interface Flood {
  /** Beats in one write of one robot; the next write follows after all of them are answered. */
  readonly beatsPerWrite: number
  /** Requests a pong after each write, for a server that acknowledges nothing. */
  readonly answeredBy: 'acks' | 'pong'
}

/** Sends heartbeats of robots, evenly or as fast as they are answered. */
export function createBeating() {
  const lateness = createHistogram()
  const roundTrip = createHistogram()
  const pauses = monitorEventLoopDelay({ resolution: 1 })
  let sent = 0
  let acked = 0
  let mode: 'idle' | 'steady' | 'flood' = 'idle'
  let timer: NodeJS.Timeout | undefined
  let write = (_robot: RobotSocket) => {}

  const callbacks: RobotCallbacks = {
    acked(robot, beats) {
      acked += beats
      if (mode === 'steady') record(roundTrip, performance.now() - robot.sentAtMs)
      else if (mode === 'flood' && robot.outstanding === 0) write(robot)
    },
    ponged(robot) {
      if (mode === 'flood') write(robot)
    },
  }

  /**
   * Sends a beat a second while other robots connect, so that the connected ones do not count as silent. The clock
   * decides, because timers are late while the generator connects.
   */
  function keepAlive(robots: readonly RobotSocket[]): void {
    let next = 0
    let due = 0
    let lastMs = performance.now()
    timer = setInterval(() => {
      const nowMs = performance.now()
      due = Math.min(robots.length, due + (robots.length * (nowMs - lastMs)) / 1_000)
      lastMs = nowMs
      for (; due >= 1; due--) robots[next++ % robots.length]?.send(heartbeatFrame)
    }, KEEP_ALIVE_TICK_MS)
  }

  function startSteady(robots: readonly RobotSocket[], perSecond: number): void {
    clearInterval(timer)
    mode = 'steady'
    lateness.reset()
    roundTrip.reset()
    pauses.enable()
    pauses.reset()
    const stepMs = 1_000 / (robots.length * perSecond)
    const startedMs = performance.now()
    let beats = 0
    timer = setInterval(() => {
      const nowMs = performance.now()
      for (let dueMs = startedMs + beats * stepMs; dueMs <= nowMs; dueMs = startedMs + ++beats * stepMs) {
        const robot = robots[beats % robots.length] as RobotSocket
        if (!robot.open) continue
        record(lateness, nowMs - dueMs)
        robot.sentAtMs = performance.now()
        robot.send(heartbeatFrame)
        sent++
      }
    }, TICK_MS)
  }

  function startFlood(robots: readonly RobotSocket[], { beatsPerWrite, answeredBy }: Flood): void {
    clearInterval(timer)
    mode = 'flood'
    pauses.enable()
    pauses.reset()
    const beats = heartbeatsFrame(beatsPerWrite)
    const bytes = answeredBy === 'pong' ? Buffer.concat([beats, pingFrame]) : beats
    write = (robot) => {
      if (!robot.open) return
      robot.outstanding = beatsPerWrite
      robot.send(bytes)
      sent += beatsPerWrite
    }
    for (const robot of robots) {
      robot.outstanding = 0
      write(robot)
    }
  }

  return {
    callbacks,
    keepAlive,
    startSteady,
    startFlood,
    stop(): void {
      mode = 'idle'
      clearInterval(timer)
      pauses.disable()
    },
    report: (robots: readonly RobotSocket[]): BeatReport => ({
      sent,
      acked,
      atMs: performance.timeOrigin + performance.now(),
      open: robots.reduce((count, robot) => count + (robot.open ? 1 : 0), 0),
      latenessP99Ms: lateness.percentile(99) / 1_000,
      latenessMaxMs: lateness.max / 1_000,
      pauseMaxMs: pauses.max / 1e6,
      ackP50Ms: roundTrip.percentile(50) / 1_000,
      ackP99Ms: roundTrip.percentile(99) / 1_000,
    }),
  }
}
/** Histograms store whole numbers above 0: microseconds. */
function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.max(1, Math.round(ms * 1_000)))
}
