import { SimulatedArm } from '../../../tools/demo/arm/simulated-arm.ts'

// The arm of the demo as a program.

const { CONTROL_URL: url = '', ROBOT_TOKEN: token = '' } = process.env
const arm = new SimulatedArm({
  url,
  token,
  onClosed: ({ reason }) => {
    console.error(reason)
    process.exit(1)
  },
})
process.once('SIGTERM', () => process.exit(0))
await arm.start()
