import { Autonomy, type GoalState } from '@wheelhouse/protocol'
import type { CommandChanges, RobotBench } from './robot-bench.ts'
import { inMs, judge, NotTested, type Rule } from './rule.ts'

const AHEAD_M = 3
/** How long a robot may take to plan its way. */
const BEGIN_LIMIT_MS = 3_000
const REPORT_LIMIT_MS = 1_000
const NEXT_EPOCH = 3
/** As after a stall of the network, and the lifetime that it exceeds. */
const STALLED_MS = 2_500
const LIFETIME_MS = 250

/** What must end a goal. All of it is sent at once. */
const endings: readonly (readonly [name: string, end: (bench: RobotBench, goalId: string) => void])[] = [
  ['cancel_goal', (bench, goalId) => bench.send({ type: 'cancel_goal', goal_id: goalId })],
  ['a command', (bench) => bench.send(bench.command({ data: bench.settings.still }))],
  ['a stop', (bench) => bench.send({ type: 'stop', reason: 'operator_lost', latched: false })],
  ['another holder', (bench) => bench.send({ type: 'lease', epoch: NEXT_EPOCH, holder: null })],
]

/** Returns the newest report of the robot. */
function reportOf(bench: RobotBench): Autonomy | undefined {
  const { success, data } = Autonomy.safeParse(bench.link.log.of('autonomy').at(-1)?.fields)
  return success ? data : undefined
}

/** Returns what the robot has reported of a goal, oldest first. */
const reportsOf = (bench: RobotBench, goalId: string): GoalState[] =>
  bench.link.log.of('autonomy').flatMap(({ fields }) => {
    const goal = Autonomy.safeParse(fields).data?.goal
    return goal?.goal_id === goalId ? [goal] : []
  })

/** Sends a goal ahead of the robot. @throws NotTested if the robot accepts none */
async function sendGoal(bench: RobotBench, changes: CommandChanges = {}): Promise<string> {
  await bench.hub.until(() => reportOf(bench) !== undefined, REPORT_LIMIT_MS)
  const frame = reportOf(bench)?.goal_frame
  if (!frame) throw new NotTested('it accepts no goals: it has reported no goal_frame')
  await bench.hub.until(() => bench.pose !== undefined, REPORT_LIMIT_MS)
  if (!bench.pose) throw new NotTested('its telemetry has no pose')
  const { x, y, heading } = bench.pose
  const place = { x: x + AHEAD_M * Math.cos(heading), y: y + AHEAD_M * Math.sin(heading), heading }
  const goal = bench.goal(frame, place, changes)
  bench.send(goal)
  return goal.goal_id
}

/** Waits until the robot drives to a goal. @throws NotTested if it does not */
async function begin(bench: RobotBench, goalId: string): Promise<void> {
  const isActive = () => reportsOf(bench, goalId).at(-1)?.status === 'active'
  if (await bench.hub.until(isActive, BEGIN_LIMIT_MS)) return
  const { status = 'nothing', message = '' } = reportsOf(bench, goalId).at(-1) ?? {}
  throw new NotTested(
    `it does not drive to a goal ${AHEAD_M} m ahead: it reports ${status} ${message}`.trim(),
  )
}

async function goals(bench: RobotBench) {
  let slowestMs = 0
  for (const [name, end] of endings) {
    await bench.begin()
    const goalId = await sendGoal(bench)
    await begin(bench, goalId)
    const sinceMs = performance.now()
    end(bench, goalId)
    const hasEnded = () => reportsOf(bench, goalId).at(-1)?.status !== 'active'
    if (!(await bench.hub.until(hasEnded, bench.haltLimitMs)))
      return judge(false, `${name} does not cancel it`, `canceled within ${inMs(bench.haltLimitMs)}`)
    slowestMs = Math.max(slowestMs, performance.now() - sinceMs)
  }
  await bench.begin()
  await bench.sendTimes(4, () => bench.command({ data: bench.settings.still }))
  const lateId = await sendGoal(bench, { lateMs: STALLED_MS, ttl_ms: LIFETIME_MS })
  // That the robot drives to the next one proves that it has read this one.
  await begin(bench, await sendGoal(bench))
  const isLateActive = reportsOf(bench, lateId).some(({ status }) => status === 'active')
  return judge(
    !isLateActive,
    isLateActive ? 'it drives to a goal that is older than ttl_ms' : `canceled within ${inMs(slowestMs)}`,
    'canceled, and refused when it is older than ttl_ms',
  )
}

/** The rule about goals, for robots that drive by themselves. */
export const goalRules: readonly Rule<RobotBench>[] = [
  {
    id: 'goals',
    title: 'Gives up its goal on cancel_goal, a command, a stop and another holder, and refuses late goals',
    protects:
      'everybody near a robot that drives by itself: who takes it over or stops it must not have to fight it',
    duty: 'protocol-robot.md#goals',
    quick: false,
    test: goals,
  },
]
