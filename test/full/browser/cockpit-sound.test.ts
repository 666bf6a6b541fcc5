import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type CockpitFixture,
  openCockpit,
  SLOW_RELOADS,
  waitUntilDriving,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { launchChromium } from '../../support/browser/launch-chromium.ts'
import { chromium } from '../../support/programs/external-programs.ts'
import { withMedia } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** A microphone that beeps once a second, and is allowed without a question. */
const FAKE_MICROPHONE = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: { ...withMedia, ...SLOW_RELOADS } })
  browser = await openConsole(world.baseUrl, await launchChromium(await chromium(), FAKE_MICROPHONE))
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await browser?.browser.close()
  await world?.[Symbol.asyncDispose]()
})

/** Collects the connections and the loudspeaker of a page. */
const OBSERVE = `
  window.peers = []
  const Peer = window.RTCPeerConnection
  window.RTCPeerConnection = class extends Peer {
    constructor(...options) { super(...options); window.peers.push(this) }
  }
  const play = HTMLAudioElement.prototype.play
  HTMLAudioElement.prototype.play = function () { window.speaker = this; return play.call(this) }`

/** What a page receives and sends as sound, over all its connections. */
interface Sound {
  readonly energy: number
  /** Samples that were taken from the buffer of what has arrived. */
  readonly taken: number
  /** Packets that have arrived, and how long the newest one is ago. */
  readonly received: number
  readonly silentMs: number
  readonly sent: number
}

const soundOf = (page: Page): Promise<Sound> =>
  page.evaluate(async () => {
    const { peers } = window as unknown as { peers: RTCPeerConnection[] }
    const sum = { energy: 0, taken: 0, received: 0, silentMs: 1e9, sent: 0 }
    for (const peer of peers.filter(({ connectionState }) => connectionState === 'connected'))
      for (const it of (await peer.getStats()).values()) {
        if (it.kind === 'audio' && it.type === 'outbound-rtp') sum.sent += it.packetsSent
        if (it.kind !== 'audio' || it.type !== 'inbound-rtp') continue
        sum.energy += it.totalAudioEnergy ?? 0
        sum.taken += it.jitterBufferEmittedCount ?? 0
        sum.received += it.packetsReceived
        sum.silentMs = Math.min(sum.silentMs, it.timestamp - (it.lastPacketReceivedTimestamp ?? 0))
      }
    return sum
  })

interface PageCamera {
  readonly name: string
  /** Whether the page plays what the operator says. */
  readonly takesSound: boolean
}

/** Publishes a picture and the fake microphone from a page. */
async function publishSound(fixture: CockpitFixture, { name, takesSound }: PageCamera): Promise<Page> {
  const { page } = await browser.visit()
  await page.goto(`${world.baseUrl}/api/health`)
  await page.mouse.click(9, 9) // before a gesture it may not play
  await page.evaluate(OBSERVE)
  const url = `${world.baseUrl}/api/robots/${fixture.robotId}/whip/${name}`
  await page.evaluate(
    async ({ url, token, takesSound }) => {
      const canvas = document.createElement('canvas')
      const context = canvas.getContext('2d') as CanvasRenderingContext2D
      setInterval(() => {
        context.fillStyle = `hsl(${(performance.now() / 10) % 360} 80% 50%)`
        context.fillRect(0, 0, canvas.width, canvas.height)
      }, 50)
      const microphone = await navigator.mediaDevices.getUserMedia({ audio: true })
      const peer = new RTCPeerConnection()
      const [picture] = canvas.captureStream(20).getTracks()
      peer.addTransceiver(picture as MediaStreamTrack, { direction: 'sendonly' })
      const sound = peer.addTransceiver(microphone.getTracks()[0] as MediaStreamTrack, {
        direction: takesSound ? 'sendrecv' : 'sendonly',
      })
      const player = document.createElement('audio') // a browser decodes only what it plays
      player.srcObject = new MediaStream([sound.receiver.track])
      void player.play()
      await peer.setLocalDescription()
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/sdp', Authorization: `Bearer ${token}` },
        body: peer.localDescription?.sdp ?? '',
      })
      if (response.status !== 201) throw new Error(await response.text())
      await peer.setRemoteDescription({ type: 'answer', sdp: await response.text() })
    },
    { url, token: fixture.robotToken, takesSound },
  )
  return page
}

/** Opens the cockpit again, observed. */
async function openObserved({ page }: CockpitFixture): Promise<void> {
  await page.addInitScript(OBSERVE)
  await page.reload()
  await waitUntilDriving(page)
  await showsPicture(page)
}

const showsPicture = (page: Page) =>
  page.locator('[data-testid=freshness][data-state=LIVE]').first().waitFor()
const saysSpeaking = (page: Page) => page.getByTestId('speech').getByText('You are speaking').waitFor()
const isSilent = (page: Page) =>
  waitFor(async () => expect((await soundOf(page)).silentMs).toBeGreaterThan(400))
const isSpokenTo = (page: Page) =>
  waitFor(async () => expect((await soundOf(page)).silentMs).toBeLessThan(200))

/** Returns whether the loudspeaker of a page plays, is muted, or has nothing to play. */
const speakerOf = (page: Page) =>
  page.evaluate(() => {
    const { speaker } = window as unknown as { speaker?: HTMLAudioElement }
    if (!speaker?.srcObject || speaker.paused) return 'off'
    return speaker.muted ? 'muted' : 'plays'
  })
const speaker = (page: Page, state: string) => waitFor(async () => expect(await speakerOf(page)).toBe(state))

test('the operator hears the robot, and is heard while a key is held; an owner who watches only hears', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId } = fixture
  const robot = await publishSound(fixture, { name: 'front', takesSound: true })
  await openObserved(fixture)

  // Otherwise what has arrived before would be heard first.
  await waitFor(async () => expect((await soundOf(page)).taken).toBeGreaterThan(0))
  expect(await speakerOf(page)).toBe('off')
  await page.keyboard.press('u')
  await speaker(page, 'plays')
  await page.locator('[data-testid=sound][data-heard=true]').waitFor()
  const before = await soundOf(page)
  await waitFor(async () => expect((await soundOf(page)).energy).toBeGreaterThan(before.energy))

  expect((await soundOf(robot)).received).toBe(0)
  await page.keyboard.down('b')
  await saysSpeaking(page)
  await speaker(page, 'muted')
  await isSpokenTo(robot)
  const quiet = await soundOf(robot)
  await waitFor(async () => expect((await soundOf(robot)).energy).toBeGreaterThan(quiet.energy))
  await page.keyboard.up('b')
  await isSilent(robot)
  await speaker(page, 'plays')

  // What hides the end of a press ends the speech, too.
  for (const interruption of ['blur', 'stop'] as const) {
    await page.keyboard.down('b')
    await saysSpeaking(page)
    await isSpokenTo(robot)
    if (interruption === 'blur') await page.evaluate(() => void dispatchEvent(new Event('blur')))
    else await page.keyboard.press('Escape')
    await isSilent(robot)
    expect(await page.getByTestId('speech').textContent()).toBe('')
    await page.keyboard.up('b')
  }

  await owner.patch('/api/client/profile', { contact_email: `${owner.name}@test.local` })
  const { page: watching } = await browser.enter(owner, `/dashboard/watch/${sessionId}`)
  await watching.addInitScript(OBSERVE)
  await watching.reload()
  await showsPicture(watching)
  await watching.keyboard.press('u')
  await speaker(watching, 'plays')
  await watching.keyboard.down('b')
  await watching.keyboard.press('Control+k')
  await watching.getByRole('dialog').getByTestId('listen').waitFor()
  expect(await watching.getByTestId('talk').count()).toBe(0)
  expect((await soundOf(watching)).sent).toBe(0)
  await isSilent(robot)

  await robot.context().close()
  await speaker(page, 'off')
  expect(await page.locator('[data-testid=sound][data-heard=false]').count()).toBe(1)
})

test('the menu speaks while its button is held, and says when the robot takes no sound', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const deaf = await publishSound(fixture, { name: 'front', takesSound: false })
  await openObserved(fixture)
  await page.getByTestId('menu').click()
  const talk = page.getByRole('dialog').getByTestId('talk')
  await talk.getByText('The robot takes no sound at present.').waitFor()
  expect(await talk.isDisabled()).toBe(true)

  // Another camera that is shown takes it.
  const robot = await publishSound(fixture, { name: 'rear', takesSound: true })
  await waitFor(async () => expect(await talk.isEnabled()).toBe(true))
  await talk.hover()
  await page.mouse.down()
  await talk.getByText('You are speaking').waitFor()
  await isSpokenTo(robot)
  await page.mouse.up()
  await talk.getByText('Hold to speak to the robot').waitFor()
  await isSilent(robot)
  expect((await soundOf(deaf)).received).toBe(0)
  await Promise.all([robot, deaf].map((publisher) => publisher.context().close()))
})

test('a server that takes no offer with sound gets one without, and the picture is shown', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const robot = await publishSound(fixture, { name: 'front', takesSound: true })
  let refused = 0
  await page.route('**/whep/front', async (route) => {
    if (!route.request().postData()?.includes('m=audio')) return await route.continue()
    refused++
    await route.fulfill({ status: 400 })
  })
  await openObserved(fixture)
  expect(refused).toBeGreaterThan(0)
  expect((await soundOf(page)).received).toBe(0)
  await page.getByTestId('menu').click()
  const listen = page.getByRole('dialog').getByTestId('listen')
  await listen.getByText('No shown camera sends sound.').waitFor()
  await robot.context().close()
})
