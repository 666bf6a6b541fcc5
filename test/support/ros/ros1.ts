import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { childrenOf, sendTo } from '../processes/process-table.ts'
import { installOnDebian } from '../programs/debian.ts'
import { findProgram } from '../programs/installed-programs.ts'
import { waitFor } from '../world/wait.ts'

const ROBOT = fileURLToPath(new URL('robot.py', import.meta.url))
const PLANNER = fileURLToPath(new URL('planner.py', import.meta.url))
/** The Python of Debian, which has rospy. */
const PYTHON = '/usr/bin/python3'
const ACTIONLIB = '/usr/lib/python3/dist-packages/actionlib'
const KEPT_CHARACTERS = 8_000

/** Installs ROS 1 if possible. Returns the reason why it is missing; undefined if it is there. */
export async function ros1IsMissing(): Promise<string | undefined> {
  const isThere = () => findProgram('roscore') !== undefined && existsSync(PYTHON) && existsSync(ACTIONLIB)
  if (!isThere()) await installOnDebian('ros-base', 'python3-rospy', 'python3-actionlib')
  return isThere() ? undefined : 'ROS 1 is not installed (Debian: ros-base, python3-rospy, python3-actionlib)'
}

/** A robot with ROS 1: a master, a base with odometry, a lidar, a battery, a log, a camera and a planner. */
export interface Ros1Robot extends AsyncDisposable {
  /** Address of the master. */
  readonly url: string
  /** Text of a robot.yaml for it, without the planner. */
  readonly settings: string
  /** Ends all its programs, as a crash does. */
  kill(): Promise<void>
  /** Starts all its programs. Resolves when the base is registered with the master. */
  start(): Promise<void>
  output(): string
}

/** Starts a robot with ROS 1, on a free port. Call `ros1IsMissing` before. */
export async function startRos1Robot(): Promise<Ros1Robot> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-ros-'))
  let output = ''
  let running: ChildProcess[] = []
  const env = {
    ...process.env,
    ROS_MASTER_URI: url,
    ROS_IP: '127.0.0.1',
    ROS_HOME: folder,
    ROS_LOG_DIR: folder,
  }

  function run(program: string, ...args: string[]): void {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.on('error', (cause) => {
      output += `${cause.message}\n`
    })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output = `${output}${chunk}`.slice(-KEPT_CHARACTERS)
      })
    running.push(child)
  }

  // The master and the log are children of roscore, in groups of their own.
  const killTree = ({ pid }: ChildProcess) => {
    if (pid === undefined) return
    for (const each of [...childrenOf(pid), pid]) sendTo(each, 'SIGKILL')
  }
  const killAtExit = () => running.forEach(killTree)
  process.once('exit', killAtExit)

  const robot: Ros1Robot = {
    url,
    settings: settingsFor(url),
    output: () => output,
    async start() {
      run(findProgram('roscore') ?? 'roscore', '-p', String(port))
      await waitFor(async () => {
        const response = await fetch(url, { method: 'POST', body: systemState })
        if (!(await response.text()).includes('/rosout_agg'))
          throw new Error(`roscore has not started: ${output}`)
      })
      run(PYTHON, '-B', ROBOT)
      run(PYTHON, '-B', PLANNER)
      await waitFor(async () => {
        const state = await (await fetch(url, { method: 'POST', body: systemState })).text()
        for (const topic of ['/cmd_vel', '/odom', '/camera/image_raw', '/move_base_simple/goal'])
          if (!state.includes(topic)) throw new Error(`${topic} is missing: ${output}`)
      })
    },
    async kill() {
      const ended = running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      const exits = ended.map((child) => once(child, 'exit'))
      running.forEach(killTree)
      running = []
      await Promise.all(exits)
    },
    async [Symbol.asyncDispose]() {
      await robot.kill()
      process.off('exit', killAtExit)
      await rm(folder, { recursive: true, force: true })
    },
  }
  await robot.start()
  return robot
}

const systemState =
  '<methodCall><methodName>getSystemState</methodName><params><param><value>/test</value></param></params></methodCall>'

const settingsFor = (url: string) => `
source: { type: ros1, url: "${url}" }
control:
  - topic: /cmd_vel
    type: geometry_msgs/Twist
    fields: { linear.x: linear_mps, angular.z: angular_radps }
telemetry:
  - { topic: /odom, type: nav_msgs/Odometry, rate_hz: 20 }
  - { topic: /scan, type: sensor_msgs/LaserScan }
  - { topic: /battery_state, type: sensor_msgs/BatteryState, rate_hz: 2 }
logs:
  - { topic: /rosout, type: rosgraph_msgs/Log }
cameras:
  - { name: front, topic: /camera/image_raw, type: sensor_msgs/Image, fps: 10 }
`
