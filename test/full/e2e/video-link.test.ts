import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isLabAllowed, type LabNetwork, openLabNetwork } from '../../support/network/lab-network.ts'
import { inNamespace } from '../../support/network/namespaces.ts'
import type { Direction } from '../../support/network/profiles.ts'
import { callerOf, readyPort } from '../../support/processes/rpc.ts'
import type { PacedCamera } from '../../support/video/paced-camera.ts'
import { startPython } from '../../support/video/python-programs.ts'
import { openVideoFixture, type VideoFixture } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const cameraProgram = fileURLToPath(new URL('../../../examples/python/camera.py', import.meta.url))
const viewerProgram = fileURLToPath(new URL('../../support/video/whep_viewer.py', import.meta.url))

/** The end of the link at the clients, and the one at the platform. */
const ADDRESSES = ['10.79.0.1', '10.79.0.2'] as const
/** Each way. */
const lossy: Direction = { delayMs: 80, jitterMs: 10, loss: 0.05, rateBps: null, queueBytes: 1_000_000 }
/** A picture that is frozen for longer does not continue by itself. Machines differ too much for less. */
const LONGEST_FREEZE_S = 30
const FRAMES = 200

// Without the right to create TUN devices there is no link.
describe.runIf(await isLabAllowed())('over a link with 5 % loss and 80 ms each way', () => {
  let network: LabNetwork
  let world: World
  let fixture: VideoFixture
  let origin: string

  beforeAll(async () => {
    network = await openLabNetwork({ siteIsHere: true, addresses: ADDRESSES })
    world = await createWorld({
      env: {
        ROLES: 'api,hub,gateway,worker,media',
        HOST: '0.0.0.0',
        ALLOW_INSECURE_DEV: 'true',
      },
    })
    origin = `http://${ADDRESSES[1]}:${new URL(world.baseUrl).port}`
  })
  beforeEach(async () => {
    fixture = await openVideoFixture(world)
    await configure(lossy)
  })
  afterEach(() => fixture?.[Symbol.asyncDispose]())
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
    await network?.close()
  })

  const configure = (way: Direction) => network.link.configure({ aToB: way, bToA: way, seed: 'video' })
  const isLive = (name: string) =>
    waitFor(async () => {
      const found = (await fixture.listOf(fixture.operator)).find(
        (camera: { name: string }) => camera.name === name,
      )
      expect(found?.live).toBe(true)
    })

  test('an encoded picture continues: what was lost is sent again, or a keyframe follows', async () => {
    const namespace = network.namespaces.operators
    await using _camera = await startPython(cameraProgram, {
      namespace,
      args: ['pattern'],
      env: { WHIP_URL: `${origin}/api/robots/${fixture.robot.id}/whip`, ROBOT_TOKEN: fixture.robot.token },
    })
    await isLive('pattern')
    await using viewer = await startPython(viewerProgram, {
      namespace,
      env: {
        WHEP_URL: `${origin}/api/sessions/${fixture.sessionId}/whep/pattern`,
        TICKET: await fixture.ticketOf(fixture.operator, 'control'),
      },
    })
    const frameTimesS = () => [...viewer.output().matchAll(/"after_s": ([\d.]+)/g)].map(([, s]) => Number(s))
    await waitFor(() => expect(frameTimesS().length, viewer.output().slice(-500)).toBeGreaterThan(FRAMES))
    const gapsS = frameTimesS()
      .slice(1)
      .map((atS, index) => atS - (frameTimesS()[index] as number))
    expect(Math.max(...gapsS)).toBeLessThan(LONGEST_FREEZE_S)
    const { lost } = (await network.link.report()).b_to_a
    expect(lost, 'packets that the link has lost').toBeGreaterThan(0)
  })

  test('the bitrate of the camera grows, and falls below that of a narrower link', async () => {
    await fixture.camera.stop()
    const child = network.children.run('test/support/video/paced-camera.ts', {
      through: inNamespace(network.namespaces.operators),
    })
    await readyPort(child.process)
    const camera = callerOf<PacedCamera>(child.process)
    await camera('publish', `${origin}/api/robots/${fixture.robot.id}/whip`, fixture.robot.token)
    await isLive('front')
    await fixture.watch()
    await waitFor(async () => expect(await camera('bitrate')).toBeGreaterThan(1_800_000))
    await configure({ ...lossy, rateBps: 800_000, queueBytes: 64_000 })
    await waitFor(async () => expect(await camera('bitrate')).toBeLessThan(800_000))
    await configure(lossy)
    await waitFor(async () => expect(await camera('bitrate')).toBeGreaterThan(1_000_000))
    await child.stop()
  })
})
