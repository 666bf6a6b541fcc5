import { SimulatedRobot } from '@wheelhouse/sdk'
import pTimeout from 'p-timeout'
import type { RunningPlatform } from '../../src/roles/start-roles.ts'
import { demoAccounts } from './accounts.ts'
import { createArmView } from './arm/arm-view.ts'
import { SimulatedArm } from './arm/simulated-arm.ts'
import { Camera } from './camera/camera.ts'
import { type CameraPages, cameraPath, createCameraPages } from './camera/camera-pages.ts'
import { createView, jpegOf, type View } from './camera/picture.ts'
import { publishView } from './camera/published-view.ts'
import { type Demo, seedDemo } from './seed.ts'

export { createCameraPages, demoAccounts }

const WELCOME_LIMIT_MS = 30_000
/** At both ends of the wide aisle, for the robots in turn. */
const STARTS = [
  { xM: 3, yM: 4.6, headingRad: 0 },
  { xM: 20.5, yM: 4.5, headingRad: Math.PI },
]

export interface RunningDemo {
  /** Prints the accounts and the commands of the main scenario. */
  printWelcome(): void
  stop(): Promise<void>
}

/**
 * Seeds the demo and connects its simulated robots over their WebSocket, as any robot connects.
 * @param cameras the routes that serve the robots' views
 */
export async function startDemo(
  running: RunningPlatform,
  cameras: CameraPages,
): Promise<RunningDemo | undefined> {
  const { platform, baseUrl, gatewayUrl } = running
  if (!platform.core.config.roles.includes('api')) return undefined
  const demo = await seedDemo(platform, baseUrl)
  let stopping = false
  const published = new Map<string, ReturnType<typeof publishView>>()
  const robots = demo.robots.map(({ id, hardwareId, token, isArm }, index) => {
    const options: RobotOptions = {
      url: `${gatewayUrl}/robots/${id}/control`,
      token,
      onError: (cause) => platform.core.log.debug({ err: cause, robotId: id }, 'demo robot'),
      onClosed: (end) => platform.core.log.info({ robotId: id, ...end }, 'demo robot disconnected'),
    }
    const { robot, createFirst, createSecond, second } = isArm ? openArm(options) : openRobot(options, index)
    const mjpegView = createFirst()
    cameras.add(hardwareId, new Camera({ picture: () => jpegOf(mjpegView), report: platform.core.report }))
    const publish = (camera: string, view: View, onLive: () => void) => {
      const { link } = robot
      const onError = (cause: unknown) => platform.core.log.debug({ err: cause, robotId: id }, 'demo camera')
      published.set(`${id} ${camera}`, publishView({ link, name: camera, view, onLive, onError }))
    }
    publish('front', createFirst(), () => {
      // The first camera of a robot is the one that the console shows first.
      if (!stopping && !published.has(`${id} ${second}`)) publish(second, createSecond(), () => {})
    })
    return robot
  })
  const started = Promise.allSettled(robots.map((robot) => robot.start()))
  await pTimeout(started, {
    milliseconds: WELCOME_LIMIT_MS,
    message: 'demo robots did not connect in time',
  }).catch((cause) => platform.core.log.warn(cause))
  return {
    printWelcome: () =>
      void process.stdout.write((platform.core.insecure ? INSECURE : '') + welcomeText(demo, baseUrl)),
    stop: async () => {
      stopping = true
      await Promise.all([...published.values()].map((view) => view?.close()))
      await Promise.all([cameras.close(), ...robots.map((robot) => robot.close())])
      await started
    },
  }
}

type RobotOptions = ConstructorParameters<typeof SimulatedArm>[0]

/** Creates a robot on wheels, and its cameras. */
function openRobot(options: RobotOptions, index: number) {
  const start = STARTS[index % STARTS.length]
  const robot = new SimulatedRobot({ ...options, ...(start ? { start } : {}) })
  return {
    robot,
    createFirst: () => createView({ robot }),
    createSecond: () => createView({ robot, width: 640, isRear: true }),
    second: 'rear',
  }
}

/** Creates an arm, and its cameras. */
function openArm(options: RobotOptions) {
  const robot = new SimulatedArm(options)
  return {
    robot,
    createFirst: () => createArmView(robot),
    createSecond: () => createArmView(robot, { width: 640, isWrist: true }),
    second: 'wrist',
  }
}

const INSECURE = `
    WARNING: ALLOW_INSECURE_DEV=true, and other machines can connect. Everyone who connects can sign in as any account
    without a password, admins included. Use this platform with test data only.
`

function welcomeText({ keys, robots }: Demo, baseUrl: string): string {
  const robot = robots[0]
  const json = `-H "Content-Type: application/json"`
  return `
  Wheelhouse runs at ${baseUrl} with three simulated robots online: ${robots.map((item) => item.name).join(', ')}.

  Watch their cameras at ${robots.map((item) => baseUrl + cameraPath(item.hardwareId)).join(',\n  ')}

  Sign in at ${baseUrl}/auth/login as
${demoAccounts.map((item) => `    ${item.email.padEnd(20)} ${item.role}: ${item.hint}`).join('\n')}

  Or run the main scenario from a second terminal. First set the keys:

    export API=${baseUrl}/api OWNER=${keys.owner} OPERATOR=${keys.operator}

  then the operator starts a session and sends a message; the owner reads the log and ends the session:

    curl -s $API/operator/available-robots -H "Authorization: Bearer $OPERATOR"
    SESSION=$(curl -s $API/sessions -H "Authorization: Bearer $OPERATOR" ${json} -d '{"robotId":"${robot?.id}"}' | sed 's/.*"sessionId":"\\([^"]*\\)".*/\\1/')
    curl -s $API/sessions/$SESSION/messages -H "Authorization: Bearer $OPERATOR" ${json} -d '{"body":"Hello, I have your robot."}'
    curl -s $API/sessions/$SESSION/events -H "Authorization: Bearer $OWNER"
    curl -s -X PATCH $API/sessions/$SESSION -H "Authorization: Bearer $OWNER" ${json} -d '{"action":"end"}'

  npm run demo runs the same scenario and shows every side's view. The admin's key: ${keys.admin}
  Ctrl-C stops Wheelhouse; its data remains for the next start.

`
}
