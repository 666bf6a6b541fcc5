import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerOf, createRestClient, type RestClient } from '@wheelhouse/sdk'
import { createCameraPages } from '../../tools/demo/camera/camera-pages.ts'
import { startLocalEnvironment } from '../../tools/demo/environment.ts'
import { startDemo } from '../../tools/demo/start.ts'

/** A caller of the REST API. */
export interface Actor {
  readonly rest: RestClient
  readonly token: string
}

/** The subjects of the pictures: a platform with the demo's accounts and robots, and two sessions. */
export type ScreenshotFixtures = Awaited<ReturnType<typeof createScreenshotFixtures>>

/** @throws Error when a part of it does not start */
export async function createScreenshotFixtures() {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-screenshots-'))
  const cameras = createCameraPages()
  const env = { ...process.env, DATA_DIR: folder, DEMO: '', DATABASE_URL: '' }
  const fixture = await startLocalEnvironment(env, { pages: [cameras.middleware] }).catch(async (cause) => {
    await rm(folder, { recursive: true, force: true })
    throw cause
  })
  const close = async (demo?: { stop(): Promise<void> }) => {
    await demo?.stop()
    await fixture.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const { baseUrl, keys } = fixture
    const actor = (token: string): Actor => ({ rest: createRestClient({ baseUrl, token }), token })
    const [owner, operator] = [actor(keys.owner), actor(keys.operator)]
    const demo = await startDemo(fixture.running, cameras)
    if (!demo) throw new Error('The demo needs the api role.')
    const second = actor(
      await fixture.running.platform.identity.builtIn!.issueDevToken({
        email: 'grace@demo.local',
        name: 'Grace Gale',
      }),
    )
    await answerOf(second.rest.POST('/api/auth/profile', { body: { role: 'operator' } }))
    const arm = { name: 'Sorting arm', robot_type: 'so-101', hardware_id: 'arm-board-1', tags: ['arm'] }
    await answerOf(owner.rest.POST('/api/client/robots', { body: arm }))
    const [ronja, bolt] = fixture.robots
    if (!ronja || !bolt) throw new Error('The demo must have two robots.')
    const recorded = { params: { path: { id: ronja.id } }, body: { recording: 'video' } } as const
    await answerOf(owner.rest.PATCH('/api/client/robots/{id}', recorded))
    const sessions = {
      ronja: await startSession(operator, ronja.id),
      bolt: await startSession(second, bolt.id),
    }
    return { baseUrl, owner, operator, second, sessions, close: () => close(demo) }
  } catch (cause) {
    await close()
    throw cause
  }
}

async function startSession({ rest }: Actor, robotId: string): Promise<string> {
  return (await answerOf(rest.POST('/api/sessions', { body: { robotId } }))).sessionId
}

/** Sends a message to a session's chat. */
export async function sendMessage({ rest }: Actor, id: string, body: string): Promise<void> {
  await answerOf(rest.POST('/api/sessions/{id}/messages', { params: { path: { id } }, body: { body } }))
}
