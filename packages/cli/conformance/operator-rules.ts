import { isSpeedField } from '@wheelhouse/protocol'
import type { ReceivedFrame } from './frame-log.ts'
import { frameRules, strangeFrames } from './frame-rules.ts'
import { DEADMAN_MS, hasMotion, OperatorBench, type OperatorSettings } from './operator-bench.ts'
import { BACKOFF_WATCH_MS, judgeBackoff } from './reconnecting.ts'
import {
  inMs,
  judge,
  NotTested,
  type Rule,
  type Selection,
  selectRules,
  testRules,
  type Verdict,
} from './rule.ts'

const RELAY = 'protocol-operator.md#the-rules-of-the-control-relay'
const FRAMES = 'protocol-operator.md#operator-or-observer--gateway'
const STOPS = 'protocol-operator.md#stops'
const TICKETS = 'protocol-operator.md#tickets'
const CODES = 'protocol.md#close-codes-of-the-gateway'

/** Tolerance of times, for the schedulers of both processes. */
const SLACK_MS = 300
const FRAMES_PER_DEADMAN = 4
/** The rate may be a little lower on a busy machine. */
const RATE_TOLERANCE = 0.85
const WATCH_MS = 2_000
const STATE_DELAY_MS = 600
/** How soon a program must have understood a new state. */
const REACTION_MS = 500
const SCALE = 0.2
const SCALE_TOLERANCE = 0.001
/** A program repeats a stop at least this often while the platform does not confirm it. */
const REPEAT_LIMIT_MS = 2_500
const GIVEN_UP_MS = 1_500
const FLOOD = 300
/** Frames a second that a program may send in answer to a flood. */
const MAX_ANSWERS_PER_SECOND = 200
/** A jump of the clock is longer than any delay on this machine. */
const MAX_CLOCK_ERROR_MS = 1_000
const FINAL_CODES = [4000, 4401, 4403, 4410]
const RETRY_CODES = [4009, 4503, 4408]

/** Watches the commands of a driving program for a while. */
async function watch(bench: OperatorBench, ms = WATCH_MS): Promise<ReceivedFrame[]> {
  const sinceMs = performance.now()
  await bench.hub.pause(ms)
  return bench.commands(sinceMs)
}

/** What a driving program sends in a while, about which several rules ask. */
const drives = new WeakMap<OperatorBench, Promise<readonly ReceivedFrame[]>>()

async function observeDrive(bench: OperatorBench): Promise<readonly ReceivedFrame[]> {
  await bench.begin()
  return await watch(bench)
}

function drivenCommands(bench: OperatorBench): Promise<readonly ReceivedFrame[]> {
  const known = drives.get(bench) ?? observeDrive(bench)
  drives.set(bench, known)
  return known
}

/** Returns a finding about every command. */
const aboutCommands =
  (limit: string, isBroken: (fields: Fields, before: Fields | undefined) => boolean) =>
  async (bench: OperatorBench) => {
    const commands = await drivenCommands(bench)
    const broken = commands.find(({ fields }, index) => isBroken(fields, commands[index - 1]?.fields))
    const shown = broken && JSON.stringify({ ...broken.fields, data: undefined })
    return judge(broken === undefined && commands.length > 0, shown ?? `${commands.length} commands`, limit)
  }

/** Tests that a program sends no motion in a state. */
const haltsIn = (state: Parameters<OperatorBench['change']>[0]) => async (bench: OperatorBench) => {
  await bench.begin()
  bench.change(state)
  await bench.hub.pause(REACTION_MS)
  const moving = (await watch(bench, WATCH_MS / 2)).filter(hasMotion)
  bench.change({ status: 'ACTIVE', stop: null })
  return judge(
    moving.length === 0,
    `${moving.length} commands with motion`,
    `none after ${inMs(REACTION_MS)}`,
  )
}

async function controlChange(bench: OperatorBench) {
  await bench.begin()
  bench.transfer(false)
  await bench.hub.pause(REACTION_MS)
  const moving = (await watch(bench, WATCH_MS / 2)).filter(hasMotion)
  const sinceMs = performance.now()
  bench.transfer(true)
  const goesOn = await bench.drives(sinceMs, WATCH_MS)
  const measured = `${moving.length} commands with motion, then ${goesOn ? 'drives' : 'does not drive'} again`
  return judge(moving.length === 0 && goesOn, measured, `none after ${inMs(REACTION_MS)}, then it drives`)
}

async function rate(bench: OperatorBench) {
  const commands = await drivenCommands(bench)
  const gaps = commands.slice(1).map(({ atMs }, index) => atMs - (commands[index]?.atMs ?? atMs))
  const each = (commands.length * DEADMAN_MS) / WATCH_MS
  const longestMs = Math.max(0, ...gaps)
  return judge(
    each >= FRAMES_PER_DEADMAN * RATE_TOLERANCE && longestMs <= DEADMAN_MS + SLACK_MS,
    `${each.toFixed(1)} in ${inMs(DEADMAN_MS)}, at most ${inMs(longestMs)} apart`,
    `${FRAMES_PER_DEADMAN} in ${inMs(DEADMAN_MS)}, at most ${inMs(DEADMAN_MS + SLACK_MS)} apart`,
  )
}

async function clock(bench: OperatorBench) {
  const commands = await drivenCommands(bench)
  const offsets = commands.map(({ fields, atMs }) => Number(fields.t) - atMs)
  const errorMs = commands.length > 0 ? Math.max(...offsets) - Math.min(...offsets) : Number.NaN
  return judge(
    errorMs <= MAX_CLOCK_ERROR_MS,
    `differs by ${inMs(errorMs)}`,
    `at most ${inMs(MAX_CLOCK_ERROR_MS)}`,
  )
}

async function picture(bench: OperatorBench) {
  const commands = await drivenCommands(bench)
  const reports = [...commands, ...(bench.hub.connections.at(-1)?.log.of('video_age') ?? [])].filter(
    ({ fields }) => 'video_age_ms' in fields,
  )
  const last = reports.at(-1)?.fields.video_age_ms
  return judge(
    true,
    last === undefined ? 'drives without a picture' : `video_age_ms ${last}`,
    'reported, or without a picture',
  )
}

type Fields = ReceivedFrame['fields']

const speedsOf = ({ fields: { data } }: ReceivedFrame): number[] =>
  typeof data === 'object' && data !== null
    ? Object.entries(data).flatMap(([name, value]) =>
        isSpeedField(name) && typeof value === 'number' ? [Math.abs(value)] : [],
      )
    : []

async function limits(bench: OperatorBench) {
  await bench.begin()
  const full = Math.max(...(await watch(bench, WATCH_MS / 2)).flatMap(speedsOf), 0)
  if (full === 0) throw new NotTested('its commands have no speeds')
  bench.send({ type: 'limits', speed_scale: SCALE, reason: 'latency' })
  await bench.hub.pause(REACTION_MS)
  const commands = (await watch(bench, WATCH_MS / 2)).filter(hasMotion)
  bench.send({ type: 'limits', speed_scale: 1, reason: null })
  const fast = commands.find((command) =>
    speedsOf(command).some((speed) => speed > full * SCALE + SCALE_TOLERANCE),
  )
  // Declared as slowed down already, it would reach the robot as it is.
  const claim = Number(fast?.fields.speed_scale ?? 1) <= SCALE ? 'declared as slowed down' : 'not declared'
  const measured = fast
    ? `speed ${Math.max(...speedsOf(fast))} of ${full}, ${claim}`
    : `${commands.length} commands`
  return judge(fast === undefined, measured, `slowed down to ${SCALE}`)
}

async function stopRepeated(bench: OperatorBench) {
  await bench.begin()
  // As if the stop was lost on its way, and its record took time.
  bench.handlesStops = false
  const sinceMs = performance.now()
  bench.requestStop()
  const requests = () =>
    bench.hub.connections.flatMap(({ log }) => log.of('stop', sinceMs)).length + bench.restStops.length
  if (!(await bench.hub.until(() => requests() >= 1, REPEAT_LIMIT_MS)))
    throw new NotTested('it requested no stop on the signal')
  const repeated = await bench.hub.until(() => requests() >= 2, REPEAT_LIMIT_MS)
  if (!repeated)
    return judge(false, 'requested once', `again within ${inMs(REPEAT_LIMIT_MS)} until it is recorded`)
  bench.handlesStops = true
  bench.change({
    status: 'PAUSED',
    stop: {
      reason: 'emergency_stop',
      latched: true,
      recorded: true,
      by_role: 'operator',
      clearable_by: 'anyone',
    },
  })
  await bench.hub.pause(REACTION_MS)
  const before = requests()
  await bench.hub.pause(REPEAT_LIMIT_MS)
  const later = requests() - before
  await bench.restartOnly()
  return judge(
    later === 0,
    later === 0 ? 'repeated until recorded' : 'repeated after it was recorded',
    'until it is recorded',
  )
}

async function reconnects(bench: OperatorBench) {
  await bench.restart()
  const wrong = bench.wrongTickets.length
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
  const isFresh = bench.wrongTickets.length === wrong
  const measured = isFresh ? `slowest after ${inMs(slowestMs)}` : 'with a ticket that was used'
  return judge(isFresh, measured, `with a new ticket, after 1006, ${RETRY_CODES.join(', ')}`)
}

async function closedForGood(bench: OperatorBench) {
  for (const code of FINAL_CODES) {
    await bench.restart()
    const { attempts } = bench
    bench.link.socket.close(code)
    await bench.hub.until(() => bench.attempts > attempts || bench.hasEnded, GIVEN_UP_MS)
    if (bench.attempts > attempts) return judge(false, `connects again after ${code}`, 'it gives up')
  }
  return judge(true, 'gave up', `it gives up after ${FINAL_CODES.join(', ')}`)
}

async function backoff(bench: OperatorBench) {
  await bench.restartOnly({ status: 503 })
  await bench.hub.until(() => bench.hub.attempts.length > 0, bench.settings.connectLimitMs)
  await bench.hub.until(() => bench.hasEnded, BACKOFF_WATCH_MS)
  return judgeBackoff(bench.hub.attempts.map(({ atMs }) => atMs))
}

async function offlineRobot(bench: OperatorBench) {
  await bench.restartOnly()
  bench.ticketRefusal = 409
  await bench.hub.until(() => bench.ticketRequests.length > 0, bench.settings.connectLimitMs)
  await bench.hub.until(() => bench.hasEnded, BACKOFF_WATCH_MS)
  return judgeBackoff(bench.ticketRequests)
}

async function flood(bench: OperatorBench) {
  await bench.begin()
  const { log } = bench.link
  const sinceMs = performance.now()
  for (let sent = 0; sent < FLOOD; sent++) {
    bench.send({ type: 'dropped', seq: sent, why: 'latency' })
    bench.send({ type: 'error', message: 'nothing is wrong' })
    bench.send({ type: 'x_conformance' })
  }
  await bench.hub.pause(1_000)
  const frames = log.frames.filter(({ atMs }) => atMs >= sinceMs).length
  return judge(
    frames <= MAX_ANSWERS_PER_SECOND,
    `${frames} frames in a second`,
    `at most ${MAX_ANSWERS_PER_SECOND}`,
  )
}

async function survives(bench: OperatorBench) {
  await bench.begin()
  const { link } = bench
  for (const [name, frame] of strangeFrames) {
    bench.send(frame)
    if (await bench.hub.until(() => link.closed !== undefined, 60))
      return judge(false, `lost after ${name}`, 'connected')
  }
  const drives = await bench.drives(performance.now(), WATCH_MS)
  return judge(
    drives,
    drives ? `${strangeFrames.length} frames, then drives` : 'it does not drive any more',
    'it goes on',
  )
}

/** The rules of an operator program, in the order of the test. */
export const operatorRules: readonly Rule<OperatorBench>[] = [
  {
    id: 'connects',
    title: 'Connects with a ticket, and drives',
    protects:
      'the owner: only the operator of the session drives; and this test, which needs a program that drives',
    duty: TICKETS,
    quick: true,
    async test(bench) {
      const sinceMs = performance.now()
      await bench.restartOnly()
      const { openedMs } = await bench.connected(1)
      const drives = await bench.drives(0, bench.settings.connectLimitMs)
      const measured = drives ? inMs(openedMs - sinceMs) : 'it sends no commands with motion'
      return judge(
        drives && bench.wrongTickets.length === 0,
        measured,
        'a ticket, a connection, and commands',
      )
    },
  },
  {
    id: 'first-state',
    title: 'Sends no commands before the first state',
    protects: 'everybody near the robot: the program does not know yet whether it is stopped',
    duty: TICKETS,
    quick: true,
    async test(bench) {
      await bench.restartOnly()
      bench.stateDelayMs = STATE_DELAY_MS
      const { log } = await bench.connected(1)
      await bench.hub.pause(STATE_DELAY_MS / 2)
      const early = log.of('control').length
      const drives = await bench.drives(0, bench.settings.connectLimitMs)
      return judge(early === 0 && drives, `${early} before the state`, 'none before, then it drives')
    },
  },
  {
    id: 'rate',
    title: 'Sends at least four commands within the deadman while it drives',
    protects: 'the operator: a lost packet must not halt the robot',
    duty: RELAY,
    quick: true,
    test: rate,
  },
  {
    id: 'lifetime',
    title: 'Sets ttl_ms on every command',
    protects: 'everybody near the robot: a delayed command is dropped when it has lost its sense',
    duty: FRAMES,
    quick: true,
    test: aboutCommands('ttl_ms on every command', ({ ttl_ms }) => typeof ttl_ms !== 'number'),
  },
  {
    id: 'sequence',
    title: 'Counts its commands with a seq that rises',
    protects: 'everybody near the robot: an old command does not replace a newer one',
    duty: RELAY,
    quick: true,
    test: aboutCommands(
      'each seq above the last',
      ({ seq }, before) => before !== undefined && !(Number(seq) > Number(before.seq)),
    ),
  },
  {
    id: 'clock',
    title: 'Stamps its commands with a clock that runs evenly',
    protects: 'everybody near the robot, which computes the age of commands by this clock',
    duty: 'protocol-robot.md#age-and-clocks',
    quick: false,
    test: clock,
  },
  {
    id: 'picture',
    title: 'Reports the age of its picture, if it has one',
    protects: 'everybody near a robot whose operator sees a picture that has frozen',
    duty: 'protocol-operator.md#age-of-the-picture',
    quick: false,
    test: picture,
  },
  {
    id: 'stopped',
    title: 'Sends no motion while a stop is latched',
    protects: 'the person for whose sake the robot was stopped',
    duty: STOPS,
    quick: true,
    test: haltsIn({
      status: 'PAUSED',
      stop: {
        reason: 'a person fell',
        latched: true,
        recorded: true,
        by_role: 'client',
        clearable_by: 'owner',
      },
    }),
  },
  {
    id: 'paused',
    title: 'Sends no motion while the session is paused',
    protects: 'people who enter the workspace while the session is paused',
    duty: RELAY,
    quick: true,
    test: haltsIn({ status: 'PAUSED', stop: { reason: 'session_paused', latched: false, recorded: true } }),
  },
  {
    id: 'control-change',
    title: 'Ceases to drive while somebody else controls the robot, and drives on when it has control again',
    protects: 'both operators: one who drives without control believes to steer what another one steers',
    duty: 'control.md#on-the-wire',
    quick: false,
    test: controlChange,
  },
  {
    id: 'limits',
    title: 'Applies the allowed speed',
    protects: 'everybody near a robot whose operator sees it late',
    duty: 'protocol-robot.md#speed-limits',
    quick: true,
    test: limits,
  },
  {
    id: 'stop-repeated',
    title: 'Repeats its stop until the platform has recorded it',
    protects: 'the person for whose sake the operator stops the robot: the first request may have been lost',
    duty: STOPS,
    quick: false,
    test: stopRepeated,
  },
  {
    id: 'flood',
    title: 'Answers no frames with a flood of its own',
    protects: 'the gateway, and the program itself: it is closed with 4029',
    duty: FRAMES,
    quick: false,
    test: flood,
  },
  {
    id: 'survives',
    title: 'Goes on after frames of 64 KiB, unknown and malformed frames',
    protects: 'the operator: a newer gateway must not end the program',
    duty: TICKETS,
    quick: false,
    test: survives,
  },
  {
    id: 'reconnects',
    title: 'Connects again after 1006, 4009, 4503 and 4408, each time with a new ticket',
    protects: 'the operator, whose session goes on',
    duty: CODES,
    quick: false,
    test: reconnects,
  },
  {
    id: 'backoff',
    title: 'Waits for random, growing times between attempts',
    protects: 'the platform, when many operators have lost their gateway',
    duty: CODES,
    quick: false,
    test: backoff,
  },
  {
    id: 'offline-robot',
    title: 'Asks for a ticket again while the robot is offline (409)',
    protects: 'the operator of a robot that moves to another gateway',
    duty: CODES,
    quick: false,
    test: offlineRobot,
  },
  {
    id: 'closed-for-good',
    title: 'Does not connect again after 4000, 4401, 4403 and 4410',
    protects: 'the operator who has taken over at another machine',
    duty: CODES,
    quick: false,
    test: closedForGood,
  },
  ...frameRules<OperatorBench>(async (bench) => {
    if (bench.hub.defects.frames < 50) {
      await bench.begin()
      await watch(bench)
    }
    return bench.hub.defects
  }, TICKETS),
]

/**
 * Tests an operator program against the rules.
 * @param onVerdict called after each rule
 * @throws Failure if it cannot be started; the reason of the signal when it is aborted
 */
export async function testOperator(
  settings: OperatorSettings,
  selection: Selection = {},
  onVerdict?: (verdict: Verdict) => void,
): Promise<Verdict[]> {
  const bench = await OperatorBench.start(settings)
  try {
    return await testRules(selectRules(operatorRules, selection), bench, {
      signal: settings.signal,
      onVerdict,
    })
  } finally {
    await bench.close()
  }
}
