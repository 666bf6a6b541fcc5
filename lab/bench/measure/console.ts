import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../../test/support/browser/launch-chromium.ts'
import { findProgram } from '../../../test/support/programs/installed-programs.ts'
import { startCamera } from '../console/camera.ts'
import { type Environment, setUpEnvironment } from '../console/environment.ts'
import { type FirstLoad, measureFirstLoad } from '../console/first-load.ts'
import { measureRestarts, measureSilences } from '../console/outages.ts'
import { installInstruments, mainThreadWatch, takeReadings } from '../console/page-metrics.ts'
import { pictureShares } from '../console/picture-share.ts'
import { type Driven, type FirstLoads, rowsOf } from '../console/report-rows.ts'
import type { Lab } from '../lab.ts'
import type { ConsolePlan, Plan } from '../options.ts'
import type { Section } from '../report.ts'
import { figure, median } from '../stats.ts'

const TELEMETRY_HZ = 30
const COMMANDS_HZ = 50
const CAMERA = { width: 640, height: 360, hz: 25 }
const FIRST_LOADS = 3
const MESSAGE_EVERY_MS = 2_000
/** How long a turn key is held: varied, so that inputs and commands meet in every phase. */
const KEY_PRESS_MS = [83, 112, 147, 61] as const

const title = 'The console’s cockpit, in Chromium'

/**
 * Measures the cockpit under keyboard control: the latency of a key, tasks that block the page, and shifts of its layout. Then the share
 * of the picture, a silent network, first loads and restarts.
 */
export async function measureConsole(lab: Lab, plan: Plan): Promise<Section> {
  const program = findProgram('chromium')
  if (!program) return { title, rows: [], notes: ['Not measured: chromium is not on the PATH.'] }
  const camera = await startCamera(CAMERA)
  const browser = await launchChromium(program)
  try {
    const driven = await drivenThrough(lab, plan.console, { browser, streamUrl: camera.url })
    return {
      title,
      rows: rowsOf(driven),
      notes: notesOf(driven, { version: browser.version(), kilobytes: camera.frameBytes / 1_000 }),
    }
  } finally {
    await browser.close()
    await camera.close()
  }
}

async function drivenThrough(
  lab: Lab,
  { warmUpSeconds, seconds, silences, restarts }: ConsolePlan,
  parts: { browser: Browser; streamUrl: string },
): Promise<Driven> {
  const size = { viewport: { width: 1_440, height: 900 }, locale: 'en-GB' }
  // Of its context, so that the first loads can open further pages of the same user.
  const page = await (await parts.browser.newContext(size)).newPage()
  await installInstruments(page)
  const environment = await setUpEnvironment(lab, page, {
    streamUrl: parts.streamUrl,
    telemetryHz: TELEMETRY_HZ,
  })
  try {
    const workedSeconds = await mainThreadWatch(page)
    await drive(page, environment, warmUpSeconds)
    await takeReadings(page)
    const [workedBefore, startedMs] = [await workedSeconds(), performance.now()]
    await drive(page, environment, seconds)
    const mainThreadSeconds = (await workedSeconds()) - workedBefore
    const measuredSeconds = (performance.now() - startedMs) / 1_000
    return {
      readings: await takeReadings(page),
      seconds: measuredSeconds,
      mainThreadSeconds,
      pictureShares: await pictureShares(page),
      silencesMs: await measureSilences(page, environment, silences),
      firstLoads: await firstLoads(page, environment),
      relinked: await measureRestarts(page, environment, restarts),
    }
  } finally {
    await environment.close()
  }
}

/** Measures the first load of both pages, several times. */
async function firstLoads(page: Page, { apiUrl }: Environment): Promise<FirstLoads> {
  const url = `${apiUrl}/dashboard`
  const browser = page.context().browser()
  if (!browser) throw new Error('The page has no browser.')
  const [signIns, homes]: [FirstLoad[], FirstLoad[]] = [[], []]
  for (let run = 0; run < FIRST_LOADS; run++) {
    signIns.push(await measureFirstLoad(await browser.newPage(), url, 'main a[href]'))
    homes.push(await measureFirstLoad(await page.context().newPage(), url, 'main h1'))
  }
  return { signIn: middleOf(signIns), home: middleOf(homes) }
}

const middleOf = (loads: readonly FirstLoad[]): FirstLoad => ({
  shownMs: median(loads.map(({ shownMs }) => shownMs)),
  bytes: median(loads.map(({ bytes }) => bytes)),
})

/** Holds forward all the time, and alternates between left and right. */
async function drive(page: Page, environment: { sendChat(body: string): Promise<unknown> }, seconds: number) {
  const untilMs = performance.now() + seconds * 1_000
  let nextMessageMs = 0
  await page.keyboard.down('ArrowUp')
  for (let turn = 0; performance.now() < untilMs; turn++) {
    const key = turn % 2 === 0 ? 'ArrowLeft' : 'ArrowRight'
    await page.keyboard.down(key)
    await delay(KEY_PRESS_MS[turn % KEY_PRESS_MS.length])
    await page.keyboard.up(key)
    await delay(KEY_PRESS_MS[(turn + 1) % KEY_PRESS_MS.length])
    if (performance.now() < nextMessageMs) continue
    nextMessageMs = performance.now() + MESSAGE_EVERY_MS
    await environment.sendChat(`Turn ${turn}`)
  }
  await page.keyboard.up('ArrowUp')
}

const notesOf = ({ readings, seconds }: Driven, browser: { version: string; kilobytes: number }) => [
  `Chromium ${browser.version} without a GPU; ${Math.round(seconds)} s; ${readings.inputToWireMs.length} key events, each measured from the timestamp that the browser sets.`,
  `Load: ${COMMANDS_HZ} commands a second while a key is held, telemetry at ${TELEMETRY_HZ} Hz, MJPEG video of ${CAMERA.width} × ${CAMERA.height} at ${CAMERA.hz} Hz (${figure(browser.kilobytes)} kB a picture) decoded by the page, a chat message every ${MESSAGE_EVERY_MS / 1_000} s.`,
  `First loads: the median of ${FIRST_LOADS}, each in a new page without a cache, over a connection that Chromium slows down; bytes with headers, as compressed, until the element is shown.`,
  'Silent network: the process of Wheelhouse is paused, so that every connection stays open and nothing arrives; the camera goes on. Restart: the process with all roles ends on SIGTERM and starts again under the same ports; the robot reconnects like the page, which needs it for a ticket.',
  'Wheelhouse, its PostgreSQL, the robot, the camera and the program that presses the keys run on the same machine.',
]
