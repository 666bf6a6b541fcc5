import type { GatewayClock } from '../base/gateway-clock.ts'
import type { RobotConnection } from './robot-connection.ts'

/** So many heartbeats of a robot are answered one by one within a second. A correct robot sends far fewer. */
const MAX_ANSWERS_PER_SECOND = 50
/**
 * So many answers are sent between two rounds: 40,000 a second. A turn of the event loop that lasts longer sends no more of them either,
 * so that timers, stops and control do not wait for thousands of heartbeats.
 */
const MAX_ANSWERS_PER_ROUND = 2_000
const ROUND_MS = 50

/**
 * Answers heartbeats, which costs more than to read them. A robot that floods the gateway, and all robots while the gateway is
 * overloaded, receive one answer for all heartbeats since the previous one. One number per robot waits.
 */
export function createHeartbeatAnswers({ unixMs }: Pick<GatewayClock, 'unixMs'>) {
  /** The `seq` of the newest heartbeat of each robot that waits for its answer, in the order in which they began to wait. */
  const waiting = new Map<RobotConnection, number | null>()
  const counts = { heartbeatsCoalesced: 0 }
  let left = MAX_ANSWERS_PER_ROUND

  function send(connection: RobotConnection, seq: number | null, nowMs: number): void {
    left--
    const atMs = unixMs(connection.lastHeartbeatMs)
    connection.sendIfFlowing(`{"type":"heartbeat_ack","seq":${seq},"t":${atMs}}`, nowMs)
  }

  return {
    /** Heartbeats that were answered with a newer one of their robot, since the start of this process. */
    counts: counts as Readonly<typeof counts>,

    /** Answers the newest heartbeat of a robot, now or in a round. */
    answer(connection: RobotConnection, seq: number | null, nowMs: number): void {
      const isWithinLimits = connection.countHeartbeat(nowMs) <= MAX_ANSWERS_PER_SECOND && left > 0
      if (waiting.has(connection)) counts.heartbeatsCoalesced++
      if (!isWithinLimits) return void waiting.set(connection, seq)
      waiting.delete(connection)
      send(connection, seq, nowMs)
    },

    /** Answers waiting heartbeats, those that wait longest first. Call it every `roundMs`; later calls answer the rest. */
    round(nowMs: number): void {
      left = MAX_ANSWERS_PER_ROUND
      for (const [connection, seq] of waiting) {
        if (left === 0) return
        waiting.delete(connection)
        if (connection.open) send(connection, seq, nowMs)
      }
    },

    roundMs: ROUND_MS,
  }
}
