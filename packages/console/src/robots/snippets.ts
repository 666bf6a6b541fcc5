/** The URL and token that a robot connects with. */
export interface RobotAccess {
  readonly control_url: string
  readonly robot_token: string
}

/** Returns the command that downloads and starts a simulated robot from the platform at `origin`. It asks for a pairing code. */
export const pairingCommand = (origin: string): string =>
  `curl -fsS ${origin}/connect/robot.mjs -o robot.mjs && node robot.mjs`

/** Returns the command that exchanges a pairing code for address and token, as JSON for any language. */
export const exchangeCommand = (origin: string, code: string): string =>
  `curl -fsS ${origin}/api/pairing -H 'Content-Type: application/json' -d '{"code":"${code}"}'`

/** Returns commands that connect a robot with ROS, with the command line from the platform at `origin`. */
export const rosCommand = (origin: string, code: string): string => `\
npm install --global --allow-remote=root ${origin}/downloads/wheelhouse-cli.tgz
wheelhouse ros init
wheelhouse ros run --server ${origin} --code ${code}
`

/** Returns commands that install the package for Python from the platform at `origin` into a folder of its own, as Debian requires. */
const installPython = (origin: string): string => {
  const { protocol, hostname } = new URL(origin)
  const trust = protocol === 'http:' ? ` --trusted-host ${hostname}` : ''
  return `\
python3 -m venv robot && robot/bin/pip install websockets
robot/bin/pip install --no-deps --index-url ${origin}/downloads/simple/${trust} wheelhouse
`
}

/** Returns the start of a robot in Python; `made` is the expression that makes it. */
const pythonProgram = (made: string): string => `\
cat > robot.py <<'EOF'
from wheelhouse import Robot
class Rover(Robot):
    def on_control(self, data): print("drive", data)
    def on_stop(self, reason): print("brake:", reason)
    def telemetry(self): return {"pose": {"x_m": 0, "y_m": 0, "heading_rad": 0}}
${made}.run()
EOF
robot/bin/python robot.py
`

export const raspberryCommand = (origin: string, code: string): string => `\
sudo apt-get install -y python3-venv
${installPython(origin)}${pythonProgram(`Rover.pair("${origin}", "${code}")`)}`

/** Returns the command that starts the simulated robot in a container, in the network of its computer. It asks for a pairing code. */
export const dockerCommand = (origin: string): string =>
  `docker run --rm -it --network host node:22-alpine sh -c 'wget -qO robot.mjs ${origin}/connect/robot.mjs && node robot.mjs'`

/** Returns the address that makes a phone a robot. Browsers do not send the fragment with the code to the platform. */
export const phoneRobotUrl = (origin: string, code: string): string => `${origin}/phone-robot#code=${code}`

/** Returns commands that install the SDK from the platform at `origin`, because no registry has it. */
export const installSdk = (origin: string): string => `\
mkdir my-robot && cd my-robot
npm init --yes && npm pkg set type=module
npm install --allow-remote=root ${origin}/downloads/wheelhouse-sdk.tgz
`

/** The file for the program of a simulated robot. */
export const simulatedRobotFile = 'my-robot.ts'

/** The command that starts the simulated robot. */
export const startSimulatedRobot = `node ${simulatedRobotFile}`

export const simulatedRobot = ({ control_url, robot_token }: RobotAccess): string => `\
import { SimulatedRobot } from '@wheelhouse/sdk'

const robot = new SimulatedRobot({
  url: '${control_url}',
  token: '${robot_token}',
  onConnection: (state) => console.log(state),
})
console.log(await robot.start())
`

/** The file for the program of a real robot. */
export const realRobotFile = 'robot.ts'

/** Returns a program for a real robot with placeholder `motors`. */
export const realRobot = ({ control_url, robot_token }: RobotAccess): string => `\
import { RobotLink } from '@wheelhouse/sdk'

// Replace this with your own hardware.
const motors = {
  charge: () => 0.9,
  drive: (data: unknown) => console.log('drive', data),
  brake: async () => console.log('brake'),
  pose: () => ({ x_m: 0, y_m: 0, heading_rad: 0 }),
}

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

/** Returns commands that install the package for Python from the platform at `origin`, and start a robot with it. */
export const pythonRobot = (origin: string, { control_url, robot_token }: RobotAccess): string =>
  `${installPython(origin)}${pythonProgram(`Rover("${control_url}", "${robot_token}")`)}`
