import { DEFAULT_MOTION } from '../../../packages/cli/conformance/motion.ts'
import { launchCommand } from '../../../packages/cli/conformance/program-under-test.ts'
import type { RobotSettings } from '../../../packages/cli/conformance/robot-bench.ts'
import { testRobot } from '../../../packages/cli/conformance/robot-rules.ts'
import type { Selection, Verdict } from '../../../packages/cli/conformance/rule.ts'

/** The program of a robot that drives, and what differs from the defaults. */
export interface TestedRobot extends Partial<RobotSettings> {
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Runs the kit on a robot that obeys `linear_mps` and `angular_radps`. */
export async function testDrivingRobot(
  { command = [], env, ...settings }: TestedRobot,
  selection: Selection = {},
): Promise<Verdict[]> {
  return await testRobot(
    {
      launcher: launchCommand(command, { ...process.env, ...env }),
      controls: [{ linear_mps: 0.3, angular_radps: 0 }],
      still: { linear_mps: 0, angular_radps: 0 },
      motion: DEFAULT_MOTION,
      stopMs: 500,
      // Only ends a hang.
      connectLimitMs: 60_000,
      signal: new AbortController().signal,
      ...settings,
    },
    selection,
  )
}

/** A binary command: two 32-bit floats, 0.5 and 0. */
export const binaryControl: Uint8Array = Buffer.from('3f00000000000000', 'hex')

/** Returns the rules that failed, with what was measured. */
export const failuresOf = (verdicts: readonly Verdict[]): string[] =>
  verdicts.flatMap((verdict) =>
    verdict.outcome === 'failed' ? [`${verdict.id}: ${verdict.measured} (${verdict.limit})`] : [],
  )

export const idsWith = (verdicts: readonly Verdict[], outcome: Verdict['outcome']): string[] =>
  verdicts.filter((verdict) => verdict.outcome === outcome).map(({ id }) => id)
