import { fileURLToPath } from 'node:url'
import { PYTHONPATH } from '../examples/example-robots.ts'
import { python } from '../programs/external-programs.ts'
import { binaryControl } from './run-kit.ts'

const path = (file: string) => fileURLToPath(new URL(`../../../${file}`, import.meta.url))

/** The robots of this repository that are programs, and the rules that do not apply to them. A new robot is one line. */
export const robotPrograms: Readonly<
  Record<
    string,
    { command: () => Promise<readonly string[]>; binaryControl?: Uint8Array; untested: readonly string[] }
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
    untested: ['motion-rate', 'clutch'],
  },
  'examples/node/robot.js': {
    command: async () => [process.execPath, path('examples/node/robot.js')],
    // It has no data channel and no binary commands, and its WebSocket is that of the web standard.
    untested: ['order', 'binary', 'motion-rate', 'clutch', 'retry-after', 'refused-for-good'],
  },
}
