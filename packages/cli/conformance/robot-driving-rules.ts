import {
  BINARY_CONTROL,
  ControlSchema,
  compileControlSchema,
  encodeBinaryFrame,
  isSpeedField,
  MIN_SPEED_SCALE,
} from '@wheelhouse/protocol'
import { changeFirstNumber } from './motion.ts'
import { type CommandChanges, type RobotBench, type Sample, SLACK_MS } from './robot-bench.ts'
import { inMs, judge, judgeTime, NotTested, type Rule } from './rule.ts'

const DUTIES = 'protocol-robot.md#duties-of-a-robot'
const CLOCKS = 'protocol-robot.md#age-and-clocks'

/** A deadman as platforms have it. */
const SHORT_DEADMAN_MS = 300
/** The watchdog of a robot may wait this long beyond the deadman, so that the stop of the gateway arrives first. */
const WATCHDOG_MARGIN_MS = 300
/** Some libraries take seconds to make an offer. */
const OFFER_LIMIT_MS = 4_000
const HOUR_MS = 3_600_000
/** The epoch that a change of control begins. The robot did not hear of the one before. */
const NEXT_EPOCH = 3
/** An age far beyond every lifetime, as after a stall of the network. */
const STALLED_MS = 2_500
const LIFETIME_MS = 250
/** A robot obeys the first command of a new link. One that takes seconds has waited for the clock to look right. */
const NEW_LINK_MS = 1_500
const OTHER_SESSION_ID = '99999999-6d5c-4a87-9a0e-0f6c5d1b7e11'
/** At the lowest scale a robot may do up to this share of its speed: it may know a higher maximum than that of the command. */
const SLOWED_DOWN = 0.5
/** A joint is measured less exactly than it is commanded. */
const RATE_TOLERANCE = 1.25
const RATE_WINDOW_MS = 500
/** Stands for a number that JSON can write and a double cannot hold. */
const TOO_LARGE = '\u0000too large'

const refused = (evidence: string | undefined, what: string) =>
  judge(evidence === undefined, evidence ?? 'refused', `it refuses ${what}`)

/** Returns a frame as text in which numbers that are too large are written as 1e999. */
const withInfinity = (frame: Record<string, unknown>) =>
  JSON.stringify(frame).replaceAll(JSON.stringify(TOO_LARGE), '1e999')

/** Sends a few commands in time that do not move the robot, so that it knows how long the fastest ones take. */
const calibrate = (bench: RobotBench, changes: CommandChanges = {}) =>
  bench.sendTimes(4, () => bench.command({ data: bench.settings.still, ...changes }))

const stalled = (bench: RobotBench) => () => bench.command({ lateMs: STALLED_MS, ttl_ms: LIFETIME_MS })

async function expired(bench: RobotBench) {
  await bench.begin()
  await calibrate(bench)
  return refused(await bench.refuses(stalled(bench), { atOnce: true }), 'commands that are older than ttl_ms')
}

async function unreadable(bench: RobotBench) {
  const { control } = bench
  const broken: readonly [name: string, changes: Record<string, unknown>][] = [
    ['a text instead of a number', { data: changeFirstNumber(control, 'fast') }],
    ['null instead of a number', { data: changeFirstNumber(control, null) }],
    ['1e999', { data: changeFirstNumber(control, TOO_LARGE) }],
    ['a text as data', { data: 'forward' }],
    ['a text as t', { t: 'now' }],
    ['1e999 as t', { t: TOO_LARGE }],
    ['null as ttl_ms', { ttl_ms: null }],
    ['no session_id', { session_id: undefined }],
  ]
  let slowestMs = 0
  for (const [name, changes] of broken) {
    await bench.begin()
    bench.needMotion()
    if (!(await bench.drives())) throw new NotTested('the robot did not move on commands')
    const sentMs = performance.now()
    bench.send(withInfinity({ ...bench.command(), ...changes }))
    const tookMs = await bench.haltedAfter(sentMs, bench.haltLimitMs)
    const finding = judgeTime(tookMs, bench.haltLimitMs)
    if (finding.outcome === 'failed') return { ...finding, measured: `${name}: moves on` }
    slowestMs = Math.max(slowestMs, tookMs ?? 0)
  }
  return judgeTime(slowestMs, bench.haltLimitMs)
}

async function clockJumps(bench: RobotBench) {
  if ((await expired(bench)).outcome === 'failed') throw new NotTested('it obeys commands that have expired')
  await bench.begin()
  await calibrate(bench)
  // A time that is no number must not hide the age of what follows.
  bench.send(withInfinity({ ...bench.command({ data: bench.settings.still }), t: TOO_LARGE }))
  bench.send(withInfinity({ ...bench.command({ data: bench.settings.still }), t: 'now' }))
  const late = await bench.refuses(stalled(bench), { atOnce: true, afterwards: false })
  if (late) return refused(`after a time that is no number, ${late}`, 'commands of unknown age')
  await calibrate(bench, { aheadMs: HOUR_MS })
  const back = await bench.refuses(() => bench.command(), { atOnce: true, afterwards: false })
  return refused(back && `after the clock went back by an hour, ${back}`, 'commands of unknown age')
}

async function newLink(bench: RobotBench) {
  await bench.begin()
  await bench.drive()
  for (const [aheadMs, name] of [
    [-60_000, 'a minute behind'],
    [HOUR_MS, 'an hour ahead'],
  ] as const) {
    await bench.rests()
    bench.newLink(aheadMs)
    if (!(await bench.drives(() => bench.command(), NEW_LINK_MS)))
      return judge(false, `refuses an operator whose clock is ${name}`, 'it obeys another operator')
  }
  return judge(true, 'obeys clocks that are behind and ahead', 'it obeys another operator')
}

/** A robot from before leases drives on, which is safe: the gateway forwards the commands of the holder only. */
async function controlChange(bench: RobotBench) {
  await bench.begin()
  bench.needMotion()
  await bench.drive()
  const sinceMs = performance.now()
  bench.send({ type: 'lease', epoch: NEXT_EPOCH, holder: null })
  const tookMs = await bench.haltedAfter(sinceMs, bench.haltLimitMs)
  if (tookMs === undefined)
    throw new NotTested('it does not know the frame lease. That is allowed, but it lacks the second check')
  const earlier = () => bench.command({ epoch: NEXT_EPOCH - 1 })
  const evidence = await bench.refuses(earlier, { afterwards: false })
  if (evidence !== undefined) return refused(evidence, 'commands of an earlier epoch')
  const obeys = await bench.drives(() => bench.command({ epoch: NEXT_EPOCH }))
  return judge(
    obeys,
    obeys ? `halts after ${inMs(tookMs)}` : 'it does not obey the new holder',
    'it obeys the new holder only',
  )
}

/** Returns the fastest speed that the robot reports while it gets commands. */
async function speedOf(bench: RobotBench, next = () => bench.command()): Promise<number> {
  await bench.sendTimes(12, next)
  const sinceMs = performance.now()
  await bench.sendUntil(next, () => bench.samples(sinceMs).length >= 3)
  const speeds = bench.samples(sinceMs).map(({ speed }) => speed)
  if (speeds.some((speed) => speed === undefined)) throw new NotTested('its telemetry has no speed')
  return Math.max(...speeds.map((speed) => speed ?? 0))
}

/** @throws NotTested for a command without speeds, which the limits do not concern */
function needSpeeds({ control, settings: { controlSchema } }: RobotBench): void {
  const schema = ControlSchema.safeParse(controlSchema)
  const declared = schema.success && compileControlSchema(schema.data).hasSpeeds(control)
  const named = typeof control === 'object' && control !== null && Object.keys(control).some(isSpeedField)
  if (!declared && !named) throw new NotTested('the command of --control has no speeds')
}

async function limits(bench: RobotBench) {
  await bench.begin()
  needSpeeds(bench)
  bench.needMotion()
  await bench.drive()
  const full = await speedOf(bench)
  bench.send({ type: 'limits', speed_scale: MIN_SPEED_SCALE, reason: 'latency' })
  const slow = await speedOf(bench)
  bench.send({ type: 'limits', speed_scale: 1, reason: null })
  return judge(slow <= full * SLOWED_DOWN, `${slow} instead of ${full}`, `at most ${full * SLOWED_DOWN}`)
}

async function limitsInWelcome(bench: RobotBench) {
  await bench.begin()
  needSpeeds(bench)
  bench.needMotion()
  await bench.drive()
  const full = await speedOf(bench)
  await bench.restart({ limits: { speed_scale: MIN_SPEED_SCALE, reason: 'latency_unknown' } })
  const slow = await speedOf(bench)
  return judge(slow <= full * SLOWED_DOWN, `${slow} instead of ${full}`, `at most ${full * SLOWED_DOWN}`)
}

async function order(bench: RobotBench) {
  await bench.restart()
  const { log } = bench.link
  bench.send({ type: 'channel_available' })
  if (!(await bench.hub.until(() => log.of('channel_offer').length > 0, OFFER_LIMIT_MS)))
    throw new NotTested('it offers no data channel, and so gets no numbered frames')
  let number = 0
  const next = (changes: CommandChanges = {}) => bench.command({ order: ++number, after: 0, ...changes })
  const still = () => next({ data: bench.settings.still })
  if (!(await bench.drives(() => next()))) throw new NotTested('it did not move on numbered commands')

  const latched = { type: 'stop', reason: 'a person fell', latched: true, order: ++number }
  bench.send(latched)
  const cleared = { type: 'stop_cleared', order: ++number }
  bench.send({ type: 'stop', reason: 'session_paused', latched: false, order: ++number })
  bench.send(cleared)
  bench.send(latched)
  if (!(await bench.drives(() => next())))
    return judge(
      false,
      'a late copy of a stop holds it',
      'it drives after the end of a stop that a later stop overtook',
    )

  await bench.sendUntil(still, () => bench.samples().at(-1)?.moving !== true)
  const forbidden: readonly [what: string, frame: () => Record<string, unknown>][] = [
    ['overtaken', () => bench.command({ order: 1, after: 0 })],
    ['before its session', () => bench.command({ order: ++number, after: number + 1_000 })],
  ]
  for (const [what, frame] of forbidden) {
    const evidence = await bench.refuses(frame, { afterwards: false })
    if (evidence)
      return refused(`${what}: ${evidence}`, 'commands that are not the next ones of their session')
  }
  const sinceMs = performance.now()
  await bench.sendTimes(8, () => {
    const command = still()
    bench.send(command)
    return command
  })
  await bench.nextSamples(2)
  const seqs = log.of('ack', sinceMs).map(({ fields }) => fields.seq)
  return judge(new Set(seqs).size === seqs.length, `${seqs.length} acknowledged`, 'no command twice')
}

/** Tests commands whose payload only robot and operator know. */
async function binary(bench: RobotBench) {
  const { binaryControl } = bench.settings
  if (!binaryControl) throw new NotTested('--binary-control names no payload')
  await bench.begin()
  const next = (lateMs = 0) => {
    const { seq, t } = bench.command({ lateMs })
    return encodeBinaryFrame({ kind: BINARY_CONTROL, flags: 0, ttlMs: LIFETIME_MS, seq, t }, binaryControl)
  }
  if (!(await bench.drives(() => next()))) return judge(false, 'it does not obey', 'it moves')
  await bench.begin()
  await bench.sendTimes(4, () => bench.command({ data: bench.settings.still }))
  const sinceMs = performance.now()
  for (let sent = 0; sent < 8; sent++) bench.send(next(STALLED_MS))
  const samples = await bench.nextSamples(3)
  const isStill = samples.every(({ moving }) => !moving) && bench.link.log.of('ack', sinceMs).length < 8
  return judge(
    isStill,
    isStill ? 'obeyed, refused when expired' : 'obeys expired ones',
    'it obeys fresh ones only',
  )
}

/** The greatest `x-max-rate` of a schema, and the path of its first clutch. */
function readArm(field: unknown, path: readonly string[] = []): { rate: number; clutch?: readonly string[] } {
  if (typeof field !== 'object' || field === null) return { rate: 0 }
  const {
    items,
    properties = {},
    ...own
  } = field as {
    items?: unknown
    properties?: object
    'x-max-rate'?: unknown
    'x-clutch'?: unknown
  }
  const parts = [
    readArm(items, path),
    ...Object.entries(properties).map(([name, inner]) => readArm(inner, [...path, name])),
  ]
  const clutch = own['x-clutch'] === true ? path : parts.find((part) => part.clutch)?.clutch
  const rate = Math.max(Number(own['x-max-rate'] ?? 0), ...parts.map((part) => part.rate))
  return { rate, ...(clutch && { clutch }) }
}

/** Returns a copy of a command with another value at a path. */
function withValue(data: unknown, [name, ...below]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  const record = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {}
  return { ...record, [name]: withValue(record[name], below, value) }
}

function armOf({ settings: { controlSchema } }: RobotBench) {
  const arm = readArm(controlSchema)
  if (arm.rate === 0) throw new NotTested('--control-schema names no schema with x-max-rate')
  return arm
}

/** Returns the highest mean speed over a window: a joint follows its commands in steps. */
function fastestMean(samples: readonly Sample[]): number {
  const means = samples.map(({ atMs }) => {
    const window = samples.filter((other) => other.atMs > atMs - RATE_WINDOW_MS && other.atMs <= atMs)
    return window.reduce((sum, { speed = 0 }) => sum + speed, 0) / window.length
  })
  const first = samples[0]?.atMs ?? 0
  return Math.max(0, ...means.filter((_, index) => (samples[index]?.atMs ?? 0) >= first + RATE_WINDOW_MS))
}

async function motionRate(bench: RobotBench) {
  const { rate } = armOf(bench)
  await bench.begin()
  bench.needMotion()
  const sinceMs = performance.now()
  await bench.drive()
  await bench.sendTimes(20, () => bench.command())
  const fastest = fastestMean(bench.samples(sinceMs))
  if (fastest === 0) throw new NotTested('its telemetry has no speed')
  return judge(
    fastest <= rate * RATE_TOLERANCE,
    `${fastest.toFixed(2)} per second`,
    `at most ${rate} per second (x-max-rate)`,
  )
}

async function clutch(bench: RobotBench) {
  const { clutch: path } = armOf(bench)
  if (path === undefined) throw new NotTested('the control schema has no x-clutch')
  await bench.begin()
  bench.needMotion()
  await bench.sendTimes(12, () => bench.command({ data: withValue(bench.control, path, false) }))
  const isStill = (await bench.nextSamples(3)).every(({ moving }) => !moving)
  return judge(isStill, isStill ? 'holds' : 'it moved', 'it holds its joints while the clutch is open')
}

/** The rules about commands. */
export const drivingRules: readonly Rule<RobotBench>[] = [
  {
    id: 'idle',
    title: 'Does not move before the first command',
    protects: 'people beside a robot that has just connected to an open session',
    duty: DUTIES,
    quick: false,
    async test(bench) {
      await bench.restart()
      bench.needMotion()
      const samples = await bench.nextSamples(5)
      const isStill = samples.length > 0 && samples.every(({ moving }) => !moving)
      return judge(isStill, isStill ? 'halted' : 'it moved', 'halted without a command')
    },
  },
  {
    id: 'moves',
    title: 'Obeys fresh commands of its session, and acknowledges them',
    protects:
      'the operator, who must see that commands arrive; and this test, which proves nothing about a robot that never moves',
    duty: 'protocol-robot.md#robot--gateway',
    quick: true,
    async test(bench) {
      await bench.begin()
      const sinceMs = performance.now()
      const moves = await bench.drives()
      const tookMs = performance.now() - sinceMs
      const { log } = bench.link
      const acknowledges = (await bench.hub.until(() => log.of('ack', sinceMs).length > 0, SLACK_MS)) ?? false
      const measured = !moves
        ? 'it does not obey'
        : acknowledges
          ? `after ${inMs(tookMs)}`
          : 'no acknowledgements'
      return judge(moves && acknowledges, measured, 'it moves and sends ack')
    },
  },
  {
    id: 'deadman',
    title: 'Halts by itself when commands cease, without a stop of the gateway',
    protects: 'everybody near a robot whose network has failed: its last command must not drive it on',
    duty: DUTIES,
    quick: true,
    async test(bench) {
      await bench.restart({ deadman_ms: SHORT_DEADMAN_MS })
      bench.needMotion()
      await bench.drive()
      const limitMs = SHORT_DEADMAN_MS + WATCHDOG_MARGIN_MS + bench.haltLimitMs
      return judgeTime(await bench.haltedAfter(performance.now(), limitMs), limitMs)
    },
  },
  {
    id: 'expired',
    title: 'Refuses commands that are older than their ttl_ms',
    protects: 'everybody near a robot that gets a burst of old commands after a stall of the network',
    duty: CLOCKS,
    quick: true,
    test: expired,
  },
  {
    id: 'clock-jumps',
    title: 'Refuses commands of unknown age when the clock of the operator jumps',
    protects: 'everybody near the robot: an age that cannot be computed must not count as fresh',
    duty: CLOCKS,
    quick: false,
    test: clockJumps,
  },
  {
    id: 'new-link',
    title: 'Obeys another link of the operator with another clock',
    protects: 'the operator, who must be able to drive on from another machine',
    duty: CLOCKS,
    quick: false,
    test: newLink,
  },
  {
    id: 'other-session',
    title: 'Refuses commands of another session',
    protects: 'the operator and the owner: an earlier operator must not drive',
    duty: DUTIES,
    quick: false,
    async test(bench) {
      await bench.begin()
      const other = () => bench.command({ session_id: OTHER_SESSION_ID })
      return refused(await bench.refuses(other), 'commands of another session')
    },
  },
  {
    id: 'control-change',
    title: 'Halts when control changes hands, and obeys the new holder only',
    protects: 'the new holder, whom the last commands of the earlier one must not surprise',
    duty: 'control.md#on-the-wire',
    quick: false,
    test: controlChange,
  },
  {
    id: 'paused',
    title: 'Halts when the session pauses, and refuses its commands',
    protects: 'people who enter the workspace while the session is paused',
    duty: DUTIES,
    quick: true,
    async test(bench) {
      await bench.begin()
      await bench.drive()
      const sinceMs = performance.now()
      bench.send({ type: 'session', ...bench.session('PAUSED') })
      if (bench.hasMotion) {
        const halts = judgeTime(await bench.haltedAfter(sinceMs, bench.haltLimitMs), bench.haltLimitMs)
        if (halts.outcome === 'failed') return halts
      }
      const evidence = await bench.refuses(() => bench.command(), { afterwards: false })
      return refused(evidence, 'commands of a paused session')
    },
  },
  {
    id: 'unreadable',
    title: 'Brakes on a command that it cannot read',
    protects: 'everybody near the robot: a command that is not understood may have been the one to halt',
    duty: DUTIES,
    quick: true,
    test: unreadable,
  },
  {
    id: 'limits',
    title: 'Obeys the allowed speed',
    protects: 'everybody near a robot whose operator sees it late',
    duty: 'protocol-robot.md#speed-limits',
    quick: false,
    test: limits,
  },
  {
    id: 'limits-welcome',
    title: 'Obeys the allowed speed of the welcome',
    protects: 'everybody near a robot that has just connected, whose latency is unknown',
    duty: 'protocol-robot.md#speed-limits',
    quick: false,
    test: limitsInWelcome,
  },
  {
    id: 'order',
    title: 'Ignores numbered commands that were overtaken, and copies',
    protects: 'everybody near a robot with a data channel, where packets overtake each other',
    duty: 'protocol-data-channel.md#order-at-the-robot',
    quick: false,
    test: order,
  },
  {
    id: 'binary',
    title: 'Obeys fresh binary commands, and refuses expired ones',
    protects: 'everybody near a robot with binary control, as with JSON',
    duty: 'protocol-robot.md#binary-frames',
    quick: false,
    test: binary,
  },
  {
    id: 'motion-rate',
    title: 'Moves its joints no faster than x-max-rate',
    protects:
      'people within reach of an arm, and the arm: a jump of the command must not become a jump of the arm',
    duty: 'protocol-schemas.md#control-schemas',
    quick: false,
    test: motionRate,
  },
  {
    id: 'clutch',
    title: 'Holds its joints while the clutch (x-clutch) is open',
    protects: 'people within reach of an arm whose operator moves the controller without meaning the arm',
    duty: 'protocol-schemas.md#control-schemas',
    quick: false,
    test: clutch,
  },
]
