import { setInterval as everyMs } from 'node:timers'
import { expect } from 'vitest'
import { type CameraOptions, type PublishedCamera, RobotLink } from '../../../packages/sdk/index.ts'
import { start } from '../world/session-fixtures.ts'
import type { TestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import type { World } from '../world/world.ts'
import { vp8Frame } from './test-frames.ts'
import { TestViewer } from './test-viewer.ts'

const FRAME_MS = 30

export const withMedia = { ROLES: 'api,hub,gateway,worker,media' }

/** A camera that sends frames all the time, and a keyframe when it is asked for one. */
export interface RunningCamera {
  readonly camera: PublishedCamera
  readonly bitrates: number[]
  readonly errors: unknown[]
  readonly watched: boolean[]
  keyframes: number
  stop(): Promise<void>
}

/** Publishes a camera and sends frames. */
export function runCamera(link: RobotLink, options: Partial<CameraOptions> = {}): RunningCamera {
  let wanted = true
  let number = 0
  const running = {
    bitrates: [] as number[],
    errors: [] as unknown[],
    watched: [] as boolean[],
    keyframes: 0,
    camera: link.publishCamera({
      name: 'front',
      onKeyframeNeeded: () => {
        wanted = true
      },
      onBitrate: (bitsPerSecond) => running.bitrates.push(bitsPerSecond),
      onWatched: (isWatched) => running.watched.push(isWatched),
      onError: (cause) => running.errors.push(cause),
      ...options,
    }),
    async stop() {
      clearInterval(timer)
      await running.camera.close()
    },
  }
  const timer = everyMs(() => {
    number++
    const keyframe = wanted
    if (!running.camera.send(vp8Frame(number, { keyframe }))) return
    if (keyframe) running.keyframes++
    wanted = false
  }, FRAME_MS)
  return running
}

/** Creates a session whose robot publishes the camera `front`, and its viewers. */
export async function openVideoFixture(world: World) {
  const cleanups: (() => unknown)[] = []
  // On a busy machine, the first offer waits in vain for the process that starts for it. The robot tries again.
  world.tolerateErrors('The media server did not answer in time')
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  const link = new RobotLink({
    url: `${world.gatewayUrl.replace(/\/$/, '')}/robots/${robot.id}/control`,
    token: robot.token,
    PeerConnection: null,
  })
  cleanups.push(() => link.close())
  await link.connect()
  const sessionId = await start(operator, robot.id)
  const camera = runCamera(link)
  cleanups.push(() => camera.stop())

  const listOf = async (user: TestUser) => (await user.get(`/api/sessions/${sessionId}/cameras`)).body.cameras
  const ticketOf = async (user: TestUser, part: 'control' | 'watch'): Promise<string> => {
    const reply = await user.post(`/api/sessions/${sessionId}/ticket`, { part })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body.ticket
  }
  const viewers: TestViewer[] = []
  const viewer = () => {
    const made = new TestViewer()
    viewers.push(made)
    return made
  }
  const closeViewers = () => {
    for (const made of viewers.splice(0)) made.close()
  }
  cleanups.push(closeViewers)
  const url = `${world.baseUrl}/api/sessions/${sessionId}/whep/front`
  return {
    owner,
    operator,
    robot,
    link,
    sessionId,
    camera,
    url,
    ticketOf,
    listOf,
    viewer,
    closeViewers,
    isLive: () => waitFor(async () => expect((await listOf(operator))[0]?.live).toBe(true)),
    /** Connects a viewer and waits for its first frames. */
    async watch(user: TestUser = operator, part: 'control' | 'watch' = 'control'): Promise<TestViewer> {
      const made = viewer()
      const response = await made.watch({ url, token: await ticketOf(user, part) })
      expect(response.status, made.answer).toBe(201)
      await waitFor(() => expect(made.packets.length).toBeGreaterThan(10))
      return made
    },
    async [Symbol.asyncDispose]() {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    },
  }
}
export type VideoFixture = Awaited<ReturnType<typeof openVideoFixture>>
