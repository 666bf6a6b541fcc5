import type { Defects } from './frame-log.ts'
import { frameRules, strangeFrames } from './frame-rules.ts'
import type { Refusal } from './hub.ts'
import { BACKOFF_WATCH_MS, judgeBackoff } from './reconnecting.ts'
import type { RobotBench } from './robot-bench.ts'
import { inMs, judge, judgeTime, NotTested, type Rule } from './rule.ts'

const DUTIES = 'protocol-robot.md#duties-of-a-robot'
const CONNECTING = 'protocol-robot.md#connecting'
const CODES = 'protocol.md#close-codes-of-the-gateway'
const FRAMES = 'protocol-robot.md#limits-and-malformed-frames'

const HEARTBEAT_MS = 300
const BEATS = 3
/** A robot that a frame ends ends soon after it. */
const SURVIVAL_MS = 60
/** A robot that sends no heartbeat for this long hangs. */
const LONGEST_BEAT_MS = 3_000
const TIMEOUT_MS = 1_000
/** A robot may look twice before it believes that a gateway is silent. */
const SILENCE_MARGIN_MS = 2_000
/** Much longer than the first delay of a robot that reconnects, which is at most 250 ms. */
const GIVEN_UP_MS = 1_200
const RETRY_AFTER_S = 2
const FINAL_STATUSES = [401, 403, 404]
const FINAL_CODES = [4000, 4002, 4029, 4401]
const RETRY_CODES = [4503, 4500, 4008]

const isQuiet = (bench: RobotBench) =>
  bench
    .samples()
    .slice(-3)
    .every(({ moving }) => !moving)

/** Returns whether the robot makes no further attempt. */
async function givesUp(bench: RobotBench): Promise<boolean> {
  const attempts = bench.hub.attempts.length
  const goesOn = () => bench.hub.attempts.length > attempts
  await bench.hub.until(() => goesOn() || bench.hasEnded, GIVEN_UP_MS)
  return !goesOn()
}

/** Starts the robot at a gateway that refuses it. @throws NotTested for a robot that does not see the status */
async function refuseAll(bench: RobotBench, refusal: Refusal): Promise<void> {
  await bench.restartOnly({ session: null }, refusal)
  await bench.hub.until(() => bench.hub.attempts.length > 0 || bench.hasEnded, bench.settings.connectLimitMs)
  if (bench.hub.attempts.length === 0) throw new NotTested('it did not try to connect')
}

function needStatuses({ hub }: RobotBench): void {
  if (hub.attempts.some(({ isWeb }) => isWeb))
    throw new NotTested('its WebSocket, as in browsers, does not see the status of a refusal')
}

async function refusedForGood(bench: RobotBench) {
  for (const status of FINAL_STATUSES) {
    await refuseAll(bench, { status })
    needStatuses(bench)
    if (!(await givesUp(bench))) return judge(false, `tries again after ${status}`, 'it gives up')
  }
  return judge(true, 'gave up', `it gives up after ${FINAL_STATUSES.join(', ')}`)
}

async function closedForGood(bench: RobotBench) {
  for (const code of FINAL_CODES) {
    await bench.restart()
    bench.link.socket.close(code)
    if (!(await givesUp(bench))) return judge(false, `connects again after ${code}`, 'it gives up')
  }
  return judge(true, 'gave up', `it gives up after ${FINAL_CODES.join(', ')}`)
}

async function backoff(bench: RobotBench) {
  await refuseAll(bench, { status: 503 })
  await bench.hub.until(() => bench.hasEnded, BACKOFF_WATCH_MS)
  return judgeBackoff(bench.hub.attempts.map(({ atMs }) => atMs))
}

async function retryAfter(bench: RobotBench) {
  await refuseAll(bench, { status: 429, retryAfterS: RETRY_AFTER_S })
  needStatuses(bench)
  const [first] = bench.hub.attempts
  const second = await bench.hub.until(() => bench.hub.attempts[1], RETRY_AFTER_S * 1_000 + 12_000)
  const waitedMs = second && first && second.atMs - first.atMs
  // Timers may run a little early.
  const isLater = waitedMs !== undefined && waitedMs >= RETRY_AFTER_S * 1_000 - 20
  return judge(
    isLater,
    waitedMs === undefined ? 'no further attempt' : inMs(waitedMs),
    `at least ${RETRY_AFTER_S} s`,
  )
}

async function reconnects(bench: RobotBench) {
  await bench.restart()
  let slowestMs = 0
  const wait = async (lose: () => void) => {
    const count = bench.hub.connections.length
    const lostMs = performance.now()
    lose()
    const { openedMs } = await bench.reconnected(count + 1)
    slowestMs = Math.max(slowestMs, openedMs - lostMs)
  }
  await wait(() => bench.link.socket.terminate())
  for (const code of RETRY_CODES) await wait(() => bench.link.socket.close(code))
  return judge(true, `slowest after ${inMs(slowestMs)}`, `after 1006, ${RETRY_CODES.join(', ')}`)
}

async function connectionLost(bench: RobotBench) {
  await bench.restart()
  bench.needMotion()
  await bench.drive()
  // The robot gets no chance to connect before it must have halted.
  bench.hub.holdUpgradesUntilMs = performance.now() + bench.haltLimitMs
  bench.link.socket.terminate()
  await bench.reconnected(2)
  const [first] = await bench.nextSamples(1)
  if (!first) throw new NotTested('it sent no telemetry after the reconnect')
  return judge(
    !first.moving,
    first.moving ? 'it still moves' : 'halted',
    `halted within ${inMs(bench.haltLimitMs)}`,
  )
}

async function reconnectStill(bench: RobotBench) {
  await bench.restart()
  bench.needMotion()
  await bench.drive()
  bench.hub.holdUpgradesUntilMs = performance.now() + bench.haltLimitMs
  bench.link.socket.close(4503)
  await bench.reconnected(2)
  const [first, ...later] = await bench.nextSamples(6)
  if (first?.moving) throw new NotTested('it had not halted without a connection')
  if (later.some(({ moving }) => moving))
    return judge(false, 'it moved by itself', 'halted until a new command')
  const moves = await bench.drives()
  return judge(moves, moves ? 'halted, then obeys' : 'it does not obey any more', 'it obeys a new command')
}

/** Connects the robot, drives it, and falls silent. */
async function fallSilent(bench: RobotBench): Promise<void> {
  await bench.restart({ heartbeat_interval_ms: 200, heartbeat_timeout_ms: TIMEOUT_MS })
  await bench.drive()
  bench.acknowledges = false
}

async function silentGateway(bench: RobotBench) {
  await fallSilent(bench)
  const { link } = bench
  const sinceMs = performance.now()
  const limitMs = TIMEOUT_MS + SILENCE_MARGIN_MS
  const leftMs = () => link.closed?.atMs ?? bench.hub.connections[1]?.openedMs
  const atMs = await bench.hub.until(leftMs, limitMs)
  return judgeTime(atMs === undefined ? undefined : atMs - sinceMs, limitMs)
}

async function oldConnection(bench: RobotBench) {
  await fallSilent(bench)
  const old = bench.link
  // The gateway does not see that the robot leaves, as when only one direction of a network works.
  old.socket.pause()
  await bench.reconnected(2).catch(() => {
    throw new NotTested('it does not leave a silent gateway')
  })
  bench.acknowledges = true
  if (bench.hasMotion && !(await bench.hub.until(() => bench.samples().length > 1 && isQuiet(bench), 3_000)))
    throw new NotTested('it had not halted')
  const sinceMs = performance.now()
  const seqs: number[] = []
  for (let sent = 0; sent < 8; sent++) {
    const command = bench.command()
    seqs.push(command.seq)
    bench.hub.send(old, command)
  }
  const evidence = await bench.obeyed(seqs, sinceMs, true)
  return judge(evidence === undefined, evidence ?? 'ignored', 'it ignores the old connection')
}

async function survives(bench: RobotBench) {
  await bench.begin()
  const { link } = bench
  for (const [name, frame] of strangeFrames) {
    bench.send(frame)
    if (await bench.hub.until(() => link.closed !== undefined, SURVIVAL_MS))
      return judge(false, `lost after ${name}`, 'connected')
  }
  const beats = link.log.of('heartbeat').length
  await bench.hub.until(() => link.log.of('heartbeat').length > beats, LONGEST_BEAT_MS)
  const obeys = await bench.drives(() => ({ ...bench.command(), x_conformance: null }))
  return judge(
    obeys,
    obeys ? `${strangeFrames.length} frames, then obeys` : 'it does not obey any more',
    'it goes on',
  )
}

/** Makes sure that the robot has sent what a rule about its frames looks at. */
async function collect(bench: RobotBench): Promise<Defects> {
  const { defects } = bench.hub
  if (defects.frames < 50) {
    await bench.begin()
    await bench.drive()
    await bench.nextSamples(10)
  }
  return defects
}

/** The rules about the connection. */
export const connectingRules: readonly Rule<RobotBench>[] = [
  {
    id: 'connects',
    title: 'Connects with its token, in the header or in the subprotocol',
    protects: 'the owner: a robot without its token stays out',
    duty: CONNECTING,
    quick: true,
    async test(bench) {
      const sinceMs = performance.now()
      await bench.restart()
      const { openedMs, credentialIn } = bench.link
      const refused = bench.hub.attempts.some(({ status }) => status !== 101)
      const measured = refused
        ? 'first without its token, or at another address'
        : `${inMs(openedMs - sinceMs)}, token in the ${credentialIn}`
      return judge(!refused, measured, `within ${bench.settings.connectLimitMs / 1_000} s`)
    },
  },
  {
    id: 'heartbeats',
    title: 'Sends heartbeats in time',
    protects: 'operator and owner: without heartbeats a robot counts as lost',
    duty: 'protocol-robot.md#robot--gateway',
    quick: true,
    async test(bench) {
      await bench.begin()
      const sinceMs = performance.now()
      const { log } = bench.link
      const limitMs = 2 * HEARTBEAT_MS + bench.slackMs
      await bench.hub.until(() => log.of('heartbeat', sinceMs).length >= BEATS, BEATS * limitMs)
      const times = [sinceMs, ...log.of('heartbeat', sinceMs).map(({ atMs }) => atMs), performance.now()]
      const longestMs = Math.max(...times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs)))
      return judge(
        longestMs <= limitMs,
        `at most ${inMs(longestMs)} apart`,
        `at most ${inMs(limitMs)}, of ${HEARTBEAT_MS} ms`,
      )
    },
  },
]

/** The rules about losses, refusals and frames. */
export const connectionRules: readonly Rule<RobotBench>[] = [
  {
    id: 'survives',
    title: 'Goes on after frames of 64 KiB, unknown and malformed frames',
    protects: 'operator and owner: a newer gateway, or a bad frame, must not end the robot',
    duty: FRAMES,
    quick: false,
    test: survives,
  },
  {
    id: 'connection-lost',
    title: 'Brakes when the connection breaks',
    protects: 'everybody near a robot that nobody can stop any more',
    duty: DUTIES,
    quick: true,
    test: connectionLost,
  },
  {
    id: 'reconnect-still',
    title: 'Does not move after a reconnect without a new command',
    protects: 'everybody near a robot that comes back after a loss',
    duty: CODES,
    quick: true,
    test: reconnectStill,
  },
  {
    id: 'silent-gateway',
    title: 'Leaves a gateway that is silent for heartbeat_timeout_ms',
    protects: 'everybody near a robot whose connection is dead without a sign of it: no stop would arrive',
    duty: DUTIES,
    quick: false,
    test: silentGateway,
  },
  {
    id: 'old-connection',
    title: 'Ignores an older connection that still delivers',
    protects: 'everybody near the robot: late commands of a replaced connection must not move it',
    duty: 'protocol-robot.md#presence',
    quick: false,
    test: oldConnection,
  },
  {
    id: 'reconnects',
    title: 'Connects again after 1006, 4503, 4500 and 4008',
    protects: 'the operator, whose session goes on at another gateway',
    duty: CODES,
    quick: false,
    test: reconnects,
  },
  {
    id: 'backoff',
    title: 'Waits for random, growing times between attempts',
    protects: 'the platform, and the other robots on it, when a fleet has lost its gateway',
    duty: CODES,
    quick: false,
    test: backoff,
  },
  {
    id: 'retry-after',
    title: 'Honours Retry-After',
    protects: 'the platform: a robot that connects too often must not make it worse',
    duty: CONNECTING,
    quick: false,
    test: retryAfter,
  },
  {
    id: 'refused-for-good',
    title: 'Gives up after 401, 403 and 404',
    protects: 'the platform; and the owner, who sees the reason at the robot',
    duty: CONNECTING,
    quick: false,
    test: refusedForGood,
  },
  {
    id: 'closed-for-good',
    title: 'Does not connect again after 4000, 4002, 4029 and 4401',
    protects:
      'the owner: two copies of a robot would replace each other for ever, and a revoked robot stays out',
    duty: CODES,
    quick: false,
    test: closedForGood,
  },
  ...frameRules(collect, FRAMES),
]
