import { RobotBench, type RobotSettings } from './robot-bench.ts'
import { connectingRules, connectionRules } from './robot-connection-rules.ts'
import { drivingRules } from './robot-driving-rules.ts'
import { goalRules } from './robot-goal-rules.ts'
import { stopRules } from './robot-stop-rules.ts'
import { type Rule, type Selection, selectRules, testRules, type Verdict } from './rule.ts'

/** The rules of a robot, in the order of the test: what looks at all frames comes last. */
export const robotRules: readonly Rule<RobotBench>[] = [
  ...connectingRules,
  ...drivingRules,
  ...goalRules,
  ...stopRules,
  ...connectionRules,
]

/**
 * Tests a robot against the rules.
 * @param onVerdict called after each rule
 * @throws Failure if its program cannot be started; the reason of the signal when it is aborted
 */
export async function testRobot(
  settings: RobotSettings,
  selection: Selection = {},
  onVerdict?: (verdict: Verdict) => void,
): Promise<Verdict[]> {
  const bench = await RobotBench.start(settings)
  try {
    return await testRules(selectRules(robotRules, selection), bench, { signal: settings.signal, onVerdict })
  } finally {
    await bench.close()
  }
}
