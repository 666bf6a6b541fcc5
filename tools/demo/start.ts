import { SimulatedRobot } from '@wheelhouse/sdk'
import type { RunningPlatform } from '../../src/app/roles.ts'
import { withTimeout } from '../../src/core/concurrency/concurrency.ts'
import { demoAccounts } from './accounts.ts'
import { Camera } from './camera/camera.ts'
import { type CameraPages, cameraPath } from './camera/camera-pages.ts'
import { createPicture } from './camera/picture.ts'
import { type Demo, seedDemo } from './seed.ts'

const WELCOME_LIMIT_MS = 5_000

export interface RunningDemo {
  /** Prints who is there and how to play the main job. */
  printWelcome(): void
  stop(): Promise<void>
}

/**
 * Seeds the demo and lets its simulated robots connect, as any robot would, over their WebSocket.
 * @param cameras where the api shows what they see
 */
export async function startDemo(
  running: RunningPlatform,
  cameras: CameraPages,
): Promise<RunningDemo | undefined> {
  const { platform, baseUrl, gatewayUrl } = running
  if (!platform.config.roles.includes('api')) return undefined
  const demo = await seedDemo(platform, baseUrl)
  const robots = demo.robots.map(({ id, name, hardwareId, token }) => {
    const robot = new SimulatedRobot({
      url: `${gatewayUrl}/robots/${id}/control`,
      token,
      onError: (cause) => platform.log.debug({ err: cause, robotId: id }, 'demo robot'),
      onClosed: (end) => platform.log.info({ robotId: id, ...end }, 'demo robot left'),
    })
    const picture = createPicture(robot, name, platform.now)
    cameras.add(hardwareId, new Camera({ picture, report: platform.report }))
    return robot
  })
  const started = Promise.allSettled(robots.map((robot) => robot.start()))
  await withTimeout(WELCOME_LIMIT_MS, 'demo robots are late', started).catch((cause) =>
    platform.log.warn(cause),
  )
  return {
    printWelcome: () =>
      void process.stdout.write((platform.insecure ? INSECURE : '') + welcomeText(demo, baseUrl)),
    stop: async () => {
      await Promise.all([cameras.close(), ...robots.map((robot) => robot.close())])
      await started
    },
  }
}

const INSECURE = `
  WARNING: ALLOW_INSECURE_DEV=true, and other machines can connect. Everyone who does can sign in as any account
  without a password, admins included. Use this platform with test data only.
`

function welcomeText({ keys, robots }: Demo, baseUrl: string): string {
  const robot = robots[0]
  const json = `-H "Content-Type: application/json"`
  return `
  Wheelhouse runs at ${baseUrl} with two simulated robots online: ${robots.map((item) => item.name).join(' and ')}.

  See what they see at ${robots.map((item) => baseUrl + cameraPath(item.hardwareId)).join(' and\n  ')}

  Sign in at ${baseUrl}/auth/login as
${demoAccounts.map((item) => `    ${item.email.padEnd(20)} ${item.hint}`).join('\n')}

  Or play the main job from a second terminal. First who is who:

    export API=${baseUrl}/api OWNER=${keys.owner} OPERATOR=${keys.operator}

  then an operator takes a robot, says hello, and the owner looks on and ends it:

    curl -s $API/operator/available-robots -H "Authorization: Bearer $OPERATOR"
    SESSION=$(curl -s $API/sessions -H "Authorization: Bearer $OPERATOR" ${json} -d '{"robotId":"${robot?.id}"}' | sed 's/.*"sessionId":"\\([^"]*\\)".*/\\1/')
    curl -s $API/sessions/$SESSION/messages -H "Authorization: Bearer $OPERATOR" ${json} -d '{"body":"Hello, I have your robot."}'
    curl -s $API/sessions/$SESSION/events -H "Authorization: Bearer $OWNER"
    curl -s -X PATCH $API/sessions/$SESSION -H "Authorization: Bearer $OWNER" ${json} -d '{"action":"end"}'

  npm run demo plays the same with every side's view. The admin's key: ${keys.admin}
  Ctrl-C ends it; the data stays for the next start.

`
}
