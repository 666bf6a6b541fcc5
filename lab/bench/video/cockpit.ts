import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../../test/support/browser/launch-chromium.ts'
import { type Environment, setUpEnvironment } from '../console/environment.ts'
import { IS_LIVE, shownAtMs } from '../console/outages.ts'
import type { Lab } from '../lab.ts'
import type { VideoPlan } from '../options.ts'
import { childOf } from './forwarders.ts'
import { publisherScript, readerScript } from './stamped-page.ts'

const TELEMETRY_HZ = 10
const POLL_MS = 2
/** A picture that was shown for less than ten seconds is opened again after a longer wait. */
const BETWEEN_KILLS_MS = 11_000
const LIMIT_MS = 30_000
/** A latency above it is a stamp that was read wrong. */
const MOST_LATENCY_MS = 5_000

/** Notes the time of each shown picture, in whichever element of the page. */
const LAST_FRAME_SCRIPT = `(() => {
  const followed = new WeakSet()
  const follow = (video) => {
    followed.add(video)
    const next = () => video.requestVideoFrameCallback(() => next(window.lastFrameMs = Date.now()))
    next()
  }
  setInterval(() => {
    for (const video of document.querySelectorAll('video')) if (!followed.has(video)) follow(video)
  }, 50)
})()`

/** The camera of another page in the cockpit. */
export interface CockpitVideo {
  /** From the drawing in one page to the display in the other, in milliseconds. */
  readonly glassToGlassMs: readonly number[]
  /** From the display of the last picture before a kill of the forwarding process until the gateway halts the robot. */
  readonly lockoutsMs: readonly number[]
  /** From the kill of the forwarding process until the cockpit is live again. */
  readonly backMs: readonly number[]
}

/** Measures the picture in the cockpit, in Chromium, and kills the process that forwards it. */
export async function measureCockpitVideo(lab: Lab, program: string, plan: VideoPlan): Promise<CockpitVideo> {
  // A hidden page draws less often.
  const flags = ['--disable-backgrounding-occluded-windows', '--disable-renderer-backgrounding']
  const browser = await launchChromium(program, [...flags, '--disable-background-timer-throttling'])
  try {
    const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
    const environment = await setUpEnvironment(lab, page, {
      streamUrl: '',
      telemetryHz: TELEMETRY_HZ,
      publish: ({ origin, url, token }) => publishFrom(browser, origin, publisherScript(url, token)),
    })
    try {
      await shownAtMs(page, IS_LIVE)
      await page.evaluate(LAST_FRAME_SCRIPT)
      await delay(plan.seconds * 1_000) // the bitrate of a new connection grows
      const latencies = (await page.evaluate(readerScript(plan.seconds))) as number[]
      const [lockoutsMs, backMs]: [number[], number[]] = [[], []]
      for (let round = 0; round < plan.kills; round++) {
        const { lockoutMs, liveMs } = await killOnce(page, environment)
        lockoutsMs.push(lockoutMs)
        backMs.push(liveMs)
      }
      return { glassToGlassMs: latencies.filter((ms) => ms < MOST_LATENCY_MS), lockoutsMs, backMs }
    } finally {
      await environment.close()
    }
  } finally {
    await browser.close()
  }
}

async function publishFrom(browser: Browser, origin: string, script: string): Promise<void> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${origin}/api/health`)
  await page.evaluate(script)
}

async function killOnce(page: Page, { robot, pid }: Environment) {
  await page.keyboard.down('ArrowUp')
  await until(() => robot.link.stop === null && robot.state.leftMps > 0)
  const media = await childOf(pid(), 'media-process')
  if (media === undefined) throw new Error('No process forwards video.')
  const killedMs = Date.now()
  process.kill(media, 'SIGKILL')
  await until(() => robot.link.stop?.reason === 'video_stale')
  const haltedMs = Date.now()
  const lockoutMs = haltedMs - ((await page.evaluate('window.lastFrameMs')) as number)
  const liveMs = (await shownAtMs(page, IS_LIVE)) - killedMs
  await page.keyboard.up('ArrowUp')
  await delay(BETWEEN_KILLS_MS)
  return { lockoutMs, liveMs }
}

/** Settles when a condition holds. */
async function until(condition: () => boolean): Promise<void> {
  const untilMs = performance.now() + LIMIT_MS
  while (!condition()) {
    if (performance.now() > untilMs)
      throw new Error(`Within ${LIMIT_MS} ms the robot did not do what was expected.`)
    await delay(POLL_MS)
  }
}
