/** What a robot connects with. */
export interface RobotAccess {
  readonly control_url: string
  readonly robot_token: string
}

/** A whole program: a simulated robot in a small room. */
export const simulatedRobot = ({ control_url, robot_token }: RobotAccess): string => `\
import { SimulatedRobot } from '@wheelhouse/sdk'

const robot = new SimulatedRobot({
  url: '${control_url}',
  token: '${robot_token}',
  onConnection: (state) => console.log(state),
})
console.log(await robot.start())
`

/** The frame of a program for a real robot; `motors` are the owner's own. */
export const realRobot = ({ control_url, robot_token }: RobotAccess): string => `\
import { RobotLink } from '@wheelhouse/sdk'
import { motors } from './motors.ts' // yours

const link = new RobotLink({
  url: '${control_url}',
  token: '${robot_token}',
  heartbeat: () => ({ battery: motors.charge() }),
  onControl: ({ seq, data }) => {
    motors.drive(data)
    link.ack(seq)
  },
  onStop: ({ reason }) => motors.brake().then(() => link.stopped(reason)),
  onClosed: ({ reason }) => console.error('given up:', reason),
  onError: console.error,
})
setInterval(() => link.telemetry(motors.pose()), 100)
await link.connect()
`

/** Starts the robot in one file of the examples. */
export const pythonRobot = ({ control_url, robot_token }: RobotAccess): string => `\
export CONTROL_URL='${control_url}'
export ROBOT_TOKEN='${robot_token}'
python3 examples/python/robot.py
`
