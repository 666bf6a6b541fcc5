import { SimulatedRobot } from '../../../packages/sdk/index.ts'

// The simulated robot of the SDK as a program, in a room without obstacles.

const { CONTROL_URL: url = '', ROBOT_TOKEN: token = '' } = process.env
const robot = new SimulatedRobot({
  url,
  token,
  world: { widthM: 1_000, heightM: 10, obstacles: [] },
  start: { xM: 1, yM: 5 },
  telemetryHz: 25,
  onClosed: ({ reason }) => {
    console.error(reason)
    process.exit(1)
  },
})
process.once('SIGTERM', () => process.exit(0))
await robot.start()
