import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openCockpit } from '../../support/browser/cockpit.ts'
import { openConsole } from '../../support/browser/console.ts'
import { launchChromium } from '../../support/browser/launch-chromium.ts'
import { isTlsOnlyNetworkAllowed, startTlsOnlyNetwork } from '../../support/network/tls-only-network.ts'
import { chromium } from '../../support/programs/external-programs.ts'
import { startPython } from '../../support/video/python-programs.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const example = (name: string) =>
  fileURLToPath(new URL(`../../../examples/python/${name}.py`, import.meta.url))

/** The protocol over which each video of the page reaches its TURN server. */
const RELAY_PROTOCOLS = `Promise.all(window.peers.map(async (peer) => {
  const stats = [...(await peer.getStats()).values()]
  const pair = stats.find(({ type, state, nominated }) => type === 'candidate-pair' && state === 'succeeded' && nominated)
  return stats.find(({ id }) => id === pair?.localCandidateId)?.relayProtocol
}))`
const COLLECT_PEERS = `
  window.peers = []
  const Original = RTCPeerConnection
  window.RTCPeerConnection = class extends Original {
    constructor(...args) {
      super(...args)
      window.peers.push(this)
      this.addEventListener('connectionstatechange', () => {
        if (this.connectionState === 'closed') window.peers.splice(window.peers.indexOf(this), 1)
      })
    }
  }`

// A container without the capabilities SYS_ADMIN and NET_ADMIN cannot create the network.
test.runIf(await isTlsOnlyNetworkAllowed())(
  'where only TLS passes, robot and operator have their connections and the picture, also after a change of the network',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-network-'))
    await using network = await startTlsOnlyNetwork()
    await using world = await createWorld({ bus: 'redis', env: network.env })
    world.tolerateErrors('/readyz') // the proxy asks before the start is complete
    world.tolerateErrors('The media server did not answer in time')
    // A separate node, because it answers from the address at which it listens.
    await world.addNode('media', network.mediaEnv)
    await network.ready()
    const chrome = await launchChromium(await network.browser(folder, await chromium()))
    try {
      await using browser = await openConsole(world.baseUrl, chrome)
      await using fixture = await openCockpit({ ...world, gatewayUrl: network.gatewayUrl }, browser)
      const { page, operator, robot, sessionId } = fixture
      await using camera = await startPython(example('camera'), {
        args: ['front'],
        namespace: network.namespace,
        env: {
          WHIP_URL: `${network.env.BASE_URL}/api/robots/${fixture.robotId}/whip`,
          ROBOT_TOKEN: fixture.robotToken,
          SSL_CERT_FILE: network.authority,
        },
      })
      const rover = await world.robot(fixture.owner)
      await using roverProgram = await startPython(example('robot'), {
        namespace: network.namespace,
        env: {
          CONTROL_URL: `${network.env.GATEWAY_URL}/robots/${rover.id}/control`,
          ROBOT_TOKEN: rover.token,
          SSL_CERT_FILE: network.authority,
        },
      })
      const isOnline = (sinceMs: number) =>
        waitFor(async () => {
          const { last_heartbeat } = (await fixture.owner.get(`/api/client/robots/${rover.id}`)).body
          expect(Date.parse(last_heartbeat), roverProgram.output()).toBeGreaterThan(sinceMs)
        })
      await isOnline(0)
      await page.addInitScript(COLLECT_PEERS)
      await page.reload()
      const state = () => page.getByTestId('latency').textContent()
      const isLive = () =>
        waitFor(async () => {
          expect(await page.evaluate(RELAY_PROTOCOLS), `${network.output()}\n${camera.output()}`).toContain(
            'tls',
          )
          expect(await state()).toContain('Live')
        })
      await isLive()
      await page.keyboard.down('ArrowUp')
      await fixture.expectMoving()
      await page.keyboard.up('ArrowUp')
      await fixture.expectHalted()

      await network.changeAddress()
      await waitFor(async () => expect(await state()).not.toContain('Live'))
      const changedMs = Date.now()
      await isLive()
      await isOnline(changedMs)
      // The camera has connected a second time, which it can over the TURN server only.
      expect(camera.output()).toMatch(/camera front connected[\s\S]*camera front connected/)
      const { xM } = robot.state
      await waitFor(async () => {
        await page.keyboard.down('ArrowUp')
        expect(robot.state.xM).toBeGreaterThan(xM + 0.05)
      })
      await page.keyboard.up('ArrowUp')
      expect((await operator.get(`/api/sessions/${sessionId}`)).body.status).toBe('ACTIVE')
    } finally {
      await chrome.close()
      await rm(folder, { recursive: true, force: true })
    }
  },
)
