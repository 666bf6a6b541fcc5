import { fileURLToPath } from 'node:url'
import type { RobotSettings } from '../../../packages/cli/conformance/robot-bench.ts'
import { armControlSchema } from '../../../tools/demo/arm/simulated-arm.ts'
import { PYTHONPATH } from '../examples/example-robots.ts'
import { python } from '../programs/external-programs.ts'
import { binaryControl } from './run-kit.ts'

const path = (file: string) => fileURLToPath(new URL(`../../../${file}`, import.meta.url))

/** The robots of this repository that are programs, and the rules that do not apply to them. A new robot is one line. */
export const robotPrograms: Readonly<
  Record<
    string,
    Partial<RobotSettings> & { command: () => Promise<readonly string[]>; untested: readonly string[] }
  >
> = {
  'SimulatedRobot of the SDK': {
    command: async () => [process.execPath, path('test/support/conformance/simulated-robot.ts')],
    binaryControl,
    untested: ['motion-rate', 'clutch'],
  },
  'examples/python/robot.py': {
    command: async () => [
      'env',
      `PYTHONPATH=${PYTHONPATH}`,
      await python(['websockets', 'aiortc']),
      '-B',
      path('examples/python/robot.py'),
    ],
    binaryControl,
    untested: ['motion-rate', 'clutch', 'goals'],
  },
  'examples/python/goals.py': {
    command: async () => [
      'env',
      `PYTHONPATH=${PYTHONPATH}`,
      await python(['websockets', 'aiortc']),
      '-B',
      path('examples/python/goals.py'),
    ],
    binaryControl,
    untested: ['motion-rate', 'clutch'],
  },
  'SimulatedArm of the demo': {
    command: async () => [process.execPath, path('test/support/conformance/simulated-arm.ts')],
    controls: [0.8, -0.8].map((j1) => ({ joints: { j1 }, clutch: true })),
    still: { clutch: false },
    controlSchema: armControlSchema,
    untested: ['limits', 'limits-welcome', 'binary', 'goals'],
  },
  'examples/node/robot.js': {
    command: async () => [process.execPath, path('examples/node/robot.js')],
    // It has no data channel and no binary commands, and its WebSocket is that of the web standard.
    untested: ['order', 'binary', 'motion-rate', 'clutch', 'goals', 'retry-after', 'refused-for-good'],
  },
}
