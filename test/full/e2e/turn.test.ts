import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ip } from '../../support/network/namespaces.ts'
import { findProgram } from '../../support/programs/installed-programs.ts'
import { startPython } from '../../support/video/python-programs.ts'
import { openVideoFixture } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const viewerProgram = fileURLToPath(new URL('../../support/video/whep_viewer.py', import.meta.url))
const cameraProgram = fileURLToPath(new URL('../../../examples/python/camera.py', import.meta.url))
const SECRET = 'a secret for tests only'
const namespace = `wheelhouse-turn-${process.pid}`
const link = `wht${process.pid % 100_000}`
const net = `10.77.${process.pid % 250}`
/** The address of this machine in the network of the client. */
const SERVER = `${net}.1`
const CLIENT = `${net}.2`
/** An address of this machine to which the client has no route. */
const MEDIA = `10.78.${process.pid % 250}.1`

/** Creates a network in which the client reaches one address of this machine. Returns false where that is not allowed. */
async function createNetwork(): Promise<boolean> {
  try {
    await ip('netns', 'add', namespace)
    await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    await ip('addr', 'add', `${SERVER}/24`, 'dev', link)
    await ip('addr', 'add', `${MEDIA}/32`, 'dev', link)
    await ip('link', 'set', link, 'up')
    await ip('-n', namespace, 'addr', 'add', `${CLIENT}/24`, 'dev', 'eth0')
    await ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    return true
  } catch {
    await deleteNetwork()
    return false
  }
}

/** Deletes the namespace, and with it both ends of the link. */
const deleteNetwork = () => ip('netns', 'del', namespace).catch(() => {})

async function startTurnServer() {
  const program = findProgram('turnserver') ?? 'turnserver'
  const options = [
    '-n',
    '--no-cli',
    '--no-tls',
    '--no-dtls',
    '--log-file=stdout',
    '--simple-log',
    '--realm=test',
  ]
  const addresses = [`--listening-ip=${SERVER}`, `--relay-ip=${SERVER}`, '--listening-port=3478']
  const child = spawn(
    program,
    [...options, ...addresses, '--use-auth-secret', `--static-auth-secret=${SECRET}`],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  return {
    output: () => output,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

// A container without the capabilities SYS_ADMIN and NET_ADMIN cannot create the network. The test uses this one, because Linux deletes
// the interfaces of a deleted namespace later.
test.runIf(await createNetwork())(
  'a viewer whose network reaches only the TURN server sees the picture',
  async () => {
    try {
      await using turn = await startTurnServer()
      await using world = await createWorld({
        bus: 'redis',
        env: {
          HOST: '0.0.0.0',
          ALLOW_INSECURE_DEV: 'true',
          TURN_URLS: `turn:${SERVER}:3478?transport=udp`,
          TURN_SECRET: SECRET,
        },
      })
      // A separate node, because it answers from the address at which it listens.
      await world.addNode('media', { HOST: MEDIA })
      await using fixture = await openVideoFixture(world)
      const whip = `${world.baseUrl}/api/robots/${fixture.robot.id}/whip`
      await using _camera = await startPython(cameraProgram, {
        args: ['pattern'],
        env: { WHIP_URL: whip, ROBOT_TOKEN: fixture.robot.token },
      })
      const path = `/api/sessions/${fixture.sessionId}`
      const list = async () => (await fixture.operator.get(`${path}/cameras`)).body
      await waitFor(async () => {
        const { cameras } = await list()
        expect(cameras.find(({ name }: { name: string }) => name === 'pattern')?.live).toBe(true)
      })
      const origin = `http://${SERVER}:${new URL(world.baseUrl).port}`
      await using viewer = await startPython(viewerProgram, {
        namespace,
        env: {
          WHEP_URL: `${origin}${path}/whep/pattern`,
          TICKET: await fixture.ticketOf(fixture.operator, 'control'),
          ICE_SERVERS: JSON.stringify((await list()).ice_servers),
        },
      })
      await waitFor(() => expect(viewer.output(), turn.output()).toContain('"width": 640'))
      await expect(ip('-n', namespace, 'route', 'get', MEDIA)).rejects.toThrow('unreachable')
    } finally {
      await deleteNetwork()
    }
  },
)
