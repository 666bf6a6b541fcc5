import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { loadSource, RosAgent } from '../../../packages/cli/ros/agent.ts'
import { parseConfig } from '../../../packages/cli/ros/config.ts'
import { serveFolder, sharedChromium } from '../browser/chromium.ts'
import { python } from '../programs/external-programs.ts'
import { startRosbridge } from '../ros/fake-ros.ts'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { waitFor } from '../world/wait.ts'

const folder = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url))
/** Where the programs in Python find the package `wheelhouse`. */
export const PYTHONPATH = fileURLToPath(new URL('../../../packages/python', import.meta.url))

interface ExampleRobot extends AsyncDisposable {
  /** Waits until the robot has given up. @returns its message */
  gaveUp(): Promise<string>
}

/** Returns the address of the gateway and the token. `origin` is the origin of a robot in a page. */
type DestinationFactory = (origin?: string) => Promise<{ url: string; token: string }>
type StartRobot = (location: DestinationFactory) => Promise<ExampleRobot>

/** Starts the robots of `examples/`, and one with ROS, by name. */
export const exampleRobots: Record<string, StartRobot> = {
  'examples/python/robot.py': (location) => startPythonRobot(location),
  'examples/browser/robot.html': startPageRobot,
  'wheelhouse ros run': startRosRobot,
}

export interface PythonRobot extends ExampleRobot {
  /** Returns what the robot has printed so far. */
  output(): string
}

/** Starts the robot. `modules` are the Python packages that it needs, `env` further environment variables. */
export async function startPythonRobot(
  location: DestinationFactory,
  { modules, env }: { modules?: readonly string[]; env?: Record<string, string> } = {},
): Promise<PythonRobot> {
  const { url, token } = await location()
  const child = spawn(await python(modules), ['-B', `${folder('python')}/robot.py`], {
    env: {
      ...env,
      PYTHONPATH: [env?.PYTHONPATH, PYTHONPATH].filter(Boolean).join(':'),
      CONTROL_URL: url,
      ROBOT_TOKEN: token,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killAtExit = () => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    output: () => output,
    async gaveUp() {
      const code = await exited
      if (code !== 1) throw new Error(`robot.py ended with ${code}:\n${output}`)
      return output
    },
    async [Symbol.asyncDispose]() {
      const alive = child.exitCode === null
      child.kill('SIGTERM')
      const code = await exited
      process.off('exit', killAtExit)
      if (alive && code !== 0) throw new Error(`robot.py failed (${code}):\n${output}`)
    },
  }
}

/** Starts a robot in a page with its own profile. */
async function startPageRobot(location: DestinationFactory): Promise<ExampleRobot> {
  const pages = await serveFolder(folder('browser'))
  const profile = await (await sharedChromium()).newContext()
  profile.setDefaultTimeout(WAIT_LIMIT_MS)
  const { url, token } = await location(pages.origin)
  const page = await profile.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(`${pages.origin}/robot.html`)
  await page.fill('#url', url)
  await page.fill('#token', token)
  await page.click('text=Connect >> nth=0')
  return {
    gaveUp: () =>
      waitFor(async () => {
        const connectionText = (await page.textContent('#connection')) ?? ''
        if (connectionText.startsWith('ended')) return connectionText
        throw new Error(`the page has not given up: ${connectionText}`)
      }),
    async [Symbol.asyncDispose]() {
      await profile.close()
      await pages[Symbol.asyncDispose]()
      if (problems.length > 0) throw new Error(`robot.html threw errors: ${problems.join('; ')}`)
    },
  }
}

async function startRosRobot(location: DestinationFactory): Promise<ExampleRobot> {
  const { url, token } = await location()
  const ros = await startRosbridge()
  const ended = Promise.withResolvers<string>()
  const agent = new RosAgent({
    url,
    token,
    config: parseConfig(settingsFor(ros.url), 'robot.yaml'),
    createSource: await loadSource('rosbridge'),
    onLine: () => {},
    onClosed: (end) => ended.resolve(end.reason),
  })
  agent.start()
  return {
    gaveUp: () => ended.promise,
    async [Symbol.asyncDispose]() {
      await agent.close()
      await ros[Symbol.asyncDispose]()
    },
  }
}

const settingsFor = (url: string) => `
source: { type: rosbridge, url: "${url}" }
control:
  - topic: /cmd_vel
    type: geometry_msgs/Twist
    fields: { linear.x: linear_mps, angular.z: angular_radps }
telemetry:
  - { topic: /odom, type: nav_msgs/Odometry, rate_hz: 25 }
`
