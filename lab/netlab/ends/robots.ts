import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { transportNamed } from '../transports/list.ts'
import type { EndAddress } from '../transports/transport.ts'
import { watchPauses } from './clock.ts'
import { raisePriority } from './priority.ts'
import { createRobotRecorder } from './robot-recorder.ts'

// The process with all robots of a run.

const recorder = createRobotRecorder()
const pauses = watchPauses()
let closers: (() => Promise<void>)[] = []

const handlers = {
  async open(transportName: string, addresses: readonly EndAddress[]): Promise<void> {
    const transport = transportNamed(transportName)
    await Promise.all(
      addresses.map(async (address, pair) => {
        const robot = recorder.robot(pair, transport.silenceHaltMs)
        const end = await transport.connectRobot(address, robot)
        closers.push(async () => {
          robot.close()
          await end.close()
        })
      }),
    )
  },
  /** Returns the number of moving robots. */
  moving: () => recorder.moving(),
  /** Starts the measurement. */
  mark(): void {
    recorder.reset()
    pauses.reset()
  },
  report: () => ({ ...recorder.report(), pauses: pauses.report() }),
  async close(): Promise<void> {
    await Promise.all(closers.map((close) => close()))
    closers = []
  },
}
export type RobotsProcess = typeof handlers

raisePriority()
offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the lab ends this process
sendReady(0)
