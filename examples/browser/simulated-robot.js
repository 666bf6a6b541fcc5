// A simulated robot without a page: browser and Node run it. docs/protocol-robot.md describes the frames.
import { nowMs, openLink } from './link.js'

const STEP_MS = 20
const TELEMETRY_EVERY_MS = 100
/** Added to the gateway's deadman, so that the gateway's own stop arrives first. */
const WATCHDOG_MARGIN_MS = 100
/** A frame may be 0.2 ms per second slower than the fastest one and replace it, because clocks drift. */
const CLOCK_DRIFT = 0.0002
const MAX_LINEAR_MPS = 1
const MAX_ANGULAR_RADPS = 2

const round = (value) => Math.round(value * 10_000) / 10_000
const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value))

/**
 * Creates a robot that drives on an endless plane.
 * @param show called with the name of a state (`connection`, `session`, `in-force`) and its text
 * @param onStep called with the pose after each step
 * @param battery returns the charge, 0 to 1; undefined while it is unknown
 * @returns `connect(admission)`, with the argument of `openLink`; `disconnect()`; `close()`, which also ends the motion
 */
export function createRobot({ show, onStep, battery }) {
  const pose = { x: 0, y: 0, heading: 0 }
  const halted = { linear: 0, angular: 0 }
  let wanted = halted
  let wantedAtMs = 0
  let link = null
  let welcome = null
  let session = null
  /** The newest epoch of the session: commands of earlier holders of control do not count. */
  let epoch = 1
  let latched = false
  let heartbeatTimer
  let smallestMs = null
  let smallestAtMs = 0
  let lastSeq = -1
  /** The allowed share of the robot's speed. */
  let speedScale = 1

  /** Returns how much later than usual a frame arrives by its sender's clock. */
  function ageMs(seq, t) {
    if (seq <= lastSeq) smallestMs = null // a new link, which may have another clock
    lastSeq = seq
    const atMs = nowMs()
    const offset = atMs - t
    if (smallestMs === null || offset <= smallestMs + (atMs - smallestAtMs) * CLOCK_DRIFT) {
      smallestMs = offset
      smallestAtMs = atMs
    }
    return offset - smallestMs
  }

  /** Returns the speeds, clamped to those that are allowed now. */
  const allowed = (linear, angular) => ({
    linear: clamp(linear, MAX_LINEAR_MPS * speedScale),
    angular: clamp(angular, MAX_ANGULAR_RADPS * speedScale),
  })

  function applySession(next) {
    if (next?.session_id !== session?.session_id) {
      smallestMs = null
      speedScale = 1 // the gateway sends the limits of the session after it
      epoch = 1
    }
    session = next
    if (session?.status !== 'ACTIVE') wanted = halted
    show('session', session ? `${session.status} with ${session.operator_name}` : 'none')
  }

  function applyStop({ reason, latched: isLatched }) {
    wanted = halted
    latched ||= isLatched
    show('in-force', `${reason}${latched ? ' (latched)' : ''}`)
    // This robot halts at once. Yours may have to brake before it sends `stopped`.
    link.send({ type: 'stopped', reason: reason.slice(0, 500) })
  }

  function applyLease(lease) {
    if (lease.epoch <= epoch) return
    epoch = lease.epoch
    smallestMs = null // the new holder has another clock
    wanted = halted
  }

  /** Brakes for a frame that cannot be read: it must not extend the last motion, and may have been a stop. */
  function brake() {
    wanted = halted
  }

  function applyControl({ session_id, seq, epoch: ofEpoch = 1, t, ttl_ms, data }) {
    const { linear_mps = 0, angular_radps = 0 } = data ?? {}
    if (![seq, t, ttl_ms, linear_mps, angular_radps].every(Number.isFinite) || !session_id) return brake()
    if (ofEpoch < epoch) return
    const late = ageMs(seq, t) > ttl_ms
    if (late || latched || session?.status !== 'ACTIVE' || session.session_id !== session_id) return
    wanted = allowed(linear_mps, angular_radps)
    wantedAtMs = nowMs()
    show('in-force', 'none')
    link.send({ type: 'ack', seq })
  }

  function onFrame(frame) {
    if (frame.type === 'welcome') {
      welcome = frame
      let seq = 0
      const sendHeartbeat = () => {
        const charge = battery?.()
        link?.send({ type: 'heartbeat', seq: seq++, ...(charge !== undefined && { battery: charge }) })
      }
      clearInterval(heartbeatTimer)
      heartbeatTimer = setInterval(sendHeartbeat, frame.heartbeat_interval_ms)
      link.expectFrames(frame.heartbeat_timeout_ms) // heartbeats are acknowledged
      smallestMs = null // the network path may be another
      latched = false // a participant may have cleared the stop while this robot was offline
      show('in-force', 'none')
      applySession(frame.session)
      speedScale = frame.limits?.speed_scale ?? 1
      if (frame.stop) applyStop(frame.stop)
      sendHeartbeat()
    } else if (frame.type === 'session') applySession(frame)
    else if (frame.type === 'lease') applyLease(frame)
    else if (frame.type === 'stop') applyStop(frame)
    else if (frame.type === 'control') applyControl(frame)
    else if (frame.type === 'limits') speedScale = frame.speed_scale
    else if (frame.type === 'stop_cleared') {
      latched = false
      show('in-force', 'none')
    }
  }

  function step() {
    // The watchdog: the network may have lost the gateway's stop.
    if (welcome && nowMs() - wantedAtMs > welcome.deadman_ms + WATCHDOG_MARGIN_MS) wanted = halted
    wanted = allowed(wanted.linear, wanted.angular) // the command may be older than the limit
    pose.heading += (wanted.angular * STEP_MS) / 1000
    pose.x += (Math.cos(pose.heading) * wanted.linear * STEP_MS) / 1000
    pose.y += (Math.sin(pose.heading) * wanted.linear * STEP_MS) / 1000
    onStep?.(pose)
  }

  function report() {
    link?.send({
      type: 'telemetry',
      data: {
        pose: { x_m: round(pose.x), y_m: round(pose.y), heading_rad: round(pose.heading) },
        velocity: { linear_mps: wanted.linear, angular_radps: wanted.angular },
        standing: wanted.linear === 0 && wanted.angular === 0,
      },
    })
  }

  function onState(state) {
    if (state !== 'connected') {
      wanted = halted // no participant can stop an offline robot
      clearInterval(heartbeatTimer)
    }
    show('connection', state)
  }

  function disconnect() {
    link?.close()
    link = null
  }

  const timers = [setInterval(step, STEP_MS), setInterval(report, TELEMETRY_EVERY_MS)]
  return {
    connect(admission) {
      disconnect()
      link = openLink({ admission, onFrame, onUnreadable: brake, onState })
    },
    disconnect,
    close() {
      disconnect()
      for (const timer of timers) clearInterval(timer)
    },
  }
}
