import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createCliUser, endCommands, startCli } from '../../support/cli/terminal.ts'
import { type Ros1Robot, ros1IsMissing, startRos1Robot } from '../../support/ros/ros1.ts'
import { withMedia } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// A real master, a real base in Python and a real camera, behind `wheelhouse ros run`, driven over a real platform.

const GOALS = `
goal:
  topic: /move_base_simple/goal
  cancel_topic: /move_base/cancel
  status_topic: /move_base/status
  frame: odom
`

const missing = await ros1IsMissing()

describe.skipIf(missing !== undefined)('a robot with ROS 1', () => {
  let world: World
  let ros: Ros1Robot
  beforeAll(async () => {
    world = await createWorld({ env: withMedia })
    ros = await startRos1Robot()
  })
  afterAll(async () => {
    await endCommands()
    await ros[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  /** Pairs a robot, runs its agent, and connects an operator. Everything ends after the test. */
  async function connect() {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl })
    const file = join(user.configHome, 'robot.yaml')
    await writeFile(file, ros.settings + GOALS)
    const pairing = await owner.post(`/api/client/robots/${robot.id}/pairing-code`)
    expect(pairing.status, JSON.stringify(pairing.body)).toBeLessThan(300)
    const agent = startCli(user, ['ros', 'run', file, '--code', pairing.body.code, '--json'])
    const statusOf = async () => (await owner.get(`/api/client/robots/${robot.id}`)).body
    await waitFor(async () => expect((await statusOf()).status).toBe('AVAILABLE'))
    await agent.expectText('ROS is connected')
    const { body } = await operator.post('/api/sessions', { robotId: robot.id })
    const received = { samples: [] as Sample[], acks: 0, lines: [] as string[], stop: null as unknown }
    const link = new OperatorLink({
      getTicket: ticketsOf({
        baseUrl: world.baseUrl,
        token: operator.token,
        sessionId: body.sessionId,
        part: 'control',
      }),
      PeerConnection: null,
      onTelemetry: (data) => void received.samples.push(data as Sample),
      onAck: () => {
        received.acks += 1
      },
      onLog: ({ message }) => void received.lines.push(message),
      onState: ({ stop }) => {
        received.stop = stop
      },
    })
    onTestFinished(async () => {
      clearInterval(timer)
      await link.close()
      await owner.patch(`/api/sessions/${body.sessionId}`, { action: 'end' })
      agent.signal('SIGINT')
      await agent.ended
    })
    let speed: number | null = null
    const timer = setInterval(() => {
      if (speed !== null) link.control({ linear_mps: speed, angular_radps: 0 })
    }, 40)
    await link.connect()
    const drive = (mps: number | null) => {
      speed = mps
    }
    const sample = (fits: (sample: Sample) => boolean) => {
      const known = received.samples.length
      return waitFor(() => {
        const newest = received.samples.slice(known).at(-1)
        if (newest && fits(newest)) return newest
        throw new Error(
          `the telemetry does not fit: ${JSON.stringify(newest)}\n${agent.stdout()}${agent.stderr()}\n${ros.output()}`,
        )
      })
    }
    return {
      owner,
      robot,
      user,
      file,
      agent,
      link,
      received,
      drive,
      sample,
      statusOf,
      sessionId: body.sessionId,
    }
  }

  test('is driven, sends what it measures, logs and shows, and halts', async () => {
    const { owner, robot, user, received, drive, sample, statusOf } = await connect()
    const { mode } = await stat(join(user.configHome, 'wheelhouse', 'ros-robots.json'))
    expect(mode & 0o777).toBe(0o600)
    const first = await sample(({ standing, battery }) => standing && battery === 0.72)
    expect(first.scan.ranges_m.slice(0, 3)).toEqual([0, 0, 2])
    drive(0.4)
    await sample(({ velocity, pose }) => velocity.linear_mps === 0.4 && pose.x_m > 0.1)
    expect(received.acks).toBeGreaterThan(2)
    await waitFor(() => expect(received.lines.join()).toContain('drive 0.40'))
    await waitFor(async () => expect((await statusOf()).battery).toBe(0.72))
    await waitFor(async () => {
      const { body } = await owner.get(`/api/client/robots/${robot.id}/cameras`)
      expect(JSON.stringify(body)).toContain('"name":"front"')
    })
    drive(null)
    await sample(({ standing }) => standing)
  })

  test('drives to goals of its planner, which a command, a newer goal and a stop end', async () => {
    const { link, drive, sample } = await connect()
    const reports = (status: string, more: object = {}) =>
      waitFor(() => expect(link.autonomy).toMatchObject({ goal_frame: 'odom', goal: { status, ...more } }))
    const goTo = (x: number) => {
      const sent = link.goal({ frame: 'odom', x, y: 0, heading: 0 })
      expect(sent).not.toBeNull()
      return { goal_id: sent?.goalId }
    }
    await waitFor(() => expect(link.autonomy).toMatchObject({ mode: 'manual', goal_frame: 'odom' }))
    const { pose } = await sample(({ standing }) => standing)
    let first = goTo(pose.x_m + 0.3)
    await waitFor(() => {
      const goal = link.autonomy?.goal
      // Until the planner has subscribed to the goals of the agent, they fail.
      if (goal?.goal_id === first.goal_id && goal?.status === 'failed') first = goTo(pose.x_m + 0.3)
      expect(goal).toMatchObject({ ...first, status: 'reached' })
    })
    const there = await sample(({ standing }) => standing)
    expect(there.pose.x_m).toBeGreaterThanOrEqual(pose.x_m + 0.3)
    const far = there.pose.x_m + 1_000
    await reports('active', goTo(far))
    expect(link.autonomy).toMatchObject({ mode: 'autonomous' })
    await sample(({ velocity }) => velocity.linear_mps > 0.3)
    await reports('failed', { ...goTo(pose.x_m), message: 'It is behind me.' })

    await reports('active', goTo(far))
    await sample(({ velocity }) => velocity.linear_mps > 0.3)
    drive(-0.2)
    await reports('canceled')
    await sample(({ velocity }) => velocity.linear_mps === -0.2)
    drive(null)
    await sample(({ standing }) => standing)

    await reports('active', goTo(far))
    await sample(({ velocity }) => velocity.linear_mps > 0.3)
    link.stop('smoke')
    await reports('canceled')
    const halted = await sample(({ standing }) => standing)
    const later = await sample(({ standing }) => standing)
    expect(later.pose.x_m).toBe(halted.pose.x_m)
  })

  test('halts on a stop, which counts as answered only then', async () => {
    const { link, received, drive, sample } = await connect()
    drive(0.4)
    await sample(({ velocity }) => velocity.linear_mps === 0.4)
    link.stop('smoke')
    await waitFor(() => expect(received.stop).toMatchObject({ latched: true, reason: 'smoke' }))
    await sample(({ standing, velocity }) => standing && velocity.linear_mps === 0)
  })

  test('stays online while its master is gone, obeys nothing, and is driven again', async () => {
    const { received, drive, sample, statusOf } = await connect()
    drive(0.4)
    await sample(({ velocity }) => velocity.linear_mps === 0.4)
    await ros.kill()
    await waitFor(() => expect(received.lines.join()).toContain('ROS is not reachable'))
    expect((await statusOf()).status).toBe('IN_SESSION')
    const { acks } = received
    await ros.start()
    await waitFor(() => expect(received.lines.join()).toContain('ROS is connected'))
    await sample(({ velocity }) => velocity.linear_mps === 0.4)
    await waitFor(() => expect(received.acks).toBeGreaterThan(acks))
  })

  test('init writes settings with which it can be driven', async () => {
    const user = await createCliUser({ ROS_MASTER_URI: ros.url })
    const file = join(user.configHome, 'robot.yaml')
    const { code, stderr } = await startCli(user, ['ros', 'init', '--out', file]).ended
    expect(code, stderr).toBe(0)
    const { parseConfig } = await import('../../../packages/cli/ros/config.ts')
    const { control, telemetry, cameras, goal } = parseConfig(await readFile(file, 'utf8'), file)
    expect(control).toMatchObject([{ topic: '/cmd_vel', limits: { linear_mps: 0.5 } }])
    expect(telemetry.map(({ topic }) => topic)).toEqual(['/odom', '/scan', '/battery_state'])
    expect(goal).toEqual({
      topic: '/move_base_simple/goal',
      cancel_topic: '/move_base/cancel',
      status_topic: '/move_base/status',
      frame: 'map',
    })
    expect(cameras).toMatchObject([{ topic: '/camera/image_raw', type: 'sensor_msgs/Image' }])
    const schema = JSON.parse(await readFile(join(user.configHome, 'robot.control.json'), 'utf8'))
    expect(schema.properties.linear_mps).toMatchObject({ maximum: 0.5, 'x-speed': true })
  })
})

interface Sample {
  readonly pose: { readonly x_m: number }
  readonly velocity: { readonly linear_mps: number }
  readonly scan: { readonly ranges_m: readonly number[] }
  readonly battery: number
  readonly standing: boolean
}
