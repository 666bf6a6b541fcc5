import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { SimulatedRobot } from '../../../packages/sdk/index.ts'
import type { Call } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import { processUsage } from '../programs.ts'
import { type ApiUser, forgetSessionsOf, users } from '../rest/fixtures.ts'
import { startWheelhouse } from '../targets.ts'
import type { CameraProgram } from './camera.ts'
import type { ViewerProgram } from './viewers.ts'

/** Viewers of one user at one camera that the platform accepts. */
const VIEWERS_PER_USER = 8

/** The way of the pictures from the camera to the viewers. */
export interface Forwarder {
  readonly name: string
  /** Connects the camera. */
  publish(camera: Call<CameraProgram>): Promise<void>
  /** Connects one viewer. Returns the Unix time in milliseconds at which it began. */
  view(viewers: Call<ViewerProgram>, id: number): Promise<number>
  /** Returns the usage of the forwarding process; undefined if there is none. */
  usage(): Promise<{ cpuUs: number; rssBytes: number } | undefined>
  stop(): Promise<void>
}

const nowMs = () => performance.timeOrigin + performance.now()

/** Returns the connection of viewers without a server. */
export const direct = (camera: Call<CameraProgram>): Forwarder => ({
  name: 'direct, without a server',
  publish: async () => {},
  async view(viewers, id) {
    const beganMs = nowMs()
    await viewers('accept', id, await camera('answer', await viewers('offer', id)))
    return beganMs
  },
  usage: async () => undefined,
  stop: async () => {},
})

/** Starts Wheelhouse as one process, with a session of a robot and as many users as its viewers need. */
export async function startWheelhouseForwarder(lab: Lab, viewerCount: number): Promise<Forwarder> {
  const [owner] = await users(lab.db, 1, 'client')
  const [operator] = await users(lab.db, 1, 'operator')
  if (!owner || !operator) throw new Error('The users do not exist.')
  const admins = await createAdmins(lab, Math.ceil(viewerCount / VIEWERS_PER_USER))
  const env = {
    ROLES: 'api,hub,gateway,worker,media',
    MEDIA_UDP_PORT: '0',
    ADMIN_EMAILS: admins.map(({ id }) => emailOf(id)).join(),
  }
  const wheelhouse = await startWheelhouse(lab, 'single', { env })
  const origin = `http://127.0.0.1:${new URL(wheelhouse.apiUrl).port}`
  const request = async (path: string, token: string, body: string, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type }
    const response = await fetch(origin + path, { method: 'POST', headers, body })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
    return text
  }
  const { id: robotId, robot_token: robotToken } = JSON.parse(
    await request(
      '/api/client/robots',
      owner.apiKey,
      JSON.stringify({ name: 'Bench robot', robot_type: 'bench', hardware_id: randomUUID() }),
    ),
  )
  const robot = new SimulatedRobot({
    url: `ws://127.0.0.1:${wheelhouse.destination.port}/robots/${robotId}/control`,
    token: robotToken,
  })
  await robot.start()
  const { sessionId } = JSON.parse(
    await request('/api/sessions', operator.apiKey, JSON.stringify({ robotId })),
  )
  const path = `/api/sessions/${sessionId}`
  return {
    name: 'Wheelhouse',
    async publish(camera) {
      const sdp = await camera('offer')
      await camera(
        'accept',
        await request(`/api/robots/${robotId}/whip/front`, robotToken, sdp, 'application/sdp'),
      )
    },
    async view(viewers, id) {
      const { apiKey } = admins[Math.floor(id / VIEWERS_PER_USER)] as ApiUser
      const { ticket } = JSON.parse(await request(`${path}/ticket`, apiKey, '{"part":"watch"}'))
      const beganMs = nowMs()
      const sdp = await viewers('offer', id)
      await viewers('accept', id, await request(`${path}/whep/front`, ticket, sdp, 'application/sdp'))
      return beganMs
    },
    async usage() {
      const pid = await childOf(wheelhouse.child.process.pid ?? 0, 'media-process')
      return pid === undefined ? undefined : await processUsage(pid)
    },
    async stop() {
      await robot.close()
      await wheelhouse.stop()
      await forgetSessionsOf(lab.db, [robotId], 'OFFLINE')
    },
  }
}

const emailOf = (userId: string) => `${userId}@bench.local`

/** Creates users who are admins once their addresses are in ADMIN_EMAILS: they may watch every session. */
async function createAdmins(lab: Lab, count: number): Promise<ApiUser[]> {
  const made = await users(lab.db, count, 'client')
  await lab.db.query(
    `update users set email = id || '@bench.local', email_verified = true where id = any($1::uuid[])`,
    [made.map(({ id }) => id)],
  )
  return made
}

/** Returns the child of a process whose command contains a text. */
export async function childOf(parent: number, text: string): Promise<number | undefined> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [stat, command] = await Promise.all(
      ['stat', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
    )
    const parentOf = Number((stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ')[1])
    if (parentOf === parent && command?.includes(text)) return Number(pid)
  }
  return undefined
}
