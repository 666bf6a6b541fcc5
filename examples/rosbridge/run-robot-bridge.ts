import { RobotBridge } from './robot-bridge.ts'

// Connects a robot that runs rosbridge_server to Wheelhouse: see README.md.

const { CONTROL_URL, ROBOT_TOKEN, ROSBRIDGE_URL, CMD_VEL_TOPIC, ODOMETRY_TOPIC } = process.env
if (!CONTROL_URL || !ROBOT_TOKEN) throw new Error('Set CONTROL_URL and ROBOT_TOKEN of the robot')

const bridge = new RobotBridge({
  url: CONTROL_URL,
  token: ROBOT_TOKEN,
  ...(ROSBRIDGE_URL && { rosbridgeUrl: ROSBRIDGE_URL }),
  ...(CMD_VEL_TOPIC && { cmdVelTopic: CMD_VEL_TOPIC }),
  ...(ODOMETRY_TOPIC && { odometryTopic: ODOMETRY_TOPIC }),
  log: console.log,
  onClosed: ({ reason }) => {
    console.log('given up:', reason)
    process.exit(1)
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => bridge.close().then(() => process.exit()))
}
