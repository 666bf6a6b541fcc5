import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { findProgram } from '../../cluster/programs.ts'
import { startCamera } from '../console/camera.ts'
import { launchChromium } from '../console/chromium.ts'
import { setUpEnvironment } from '../console/environment.ts'
import { FIRST_VIEW_LIMIT_BYTES, firstViewScripts } from '../console/first-view.ts'
import {
  installInstruments,
  mainThreadWatch,
  type PageReadings,
  takeReadings,
} from '../console/page-metrics.ts'
import type { Lab } from '../lab.ts'
import type { ConsolePlan, Plan } from '../options.ts'
import type { Row, Section } from '../report.ts'
import { figure, percentile, sum } from '../stats.ts'

const TELEMETRY_HZ = 30
const COMMANDS_HZ = 50
/** Browser timers are sometimes late; inputs add further commands. */
const LEAST_COMMANDS_HZ = 48
const CAMERA = { width: 640, height: 360, hz: 25 }
/** Duration of one frame of a screen. */
const INPUT_LIMIT_MS = 16
const MESSAGE_EVERY_MS = 2_000
/** How long a turn key is held: varied, so that inputs and commands meet in every phase. */
const KEY_PRESS_MS = [83, 112, 147, 61] as const

const title = 'The console’s cockpit, in Chromium'

interface Driven {
  readonly readings: PageReadings
  readonly seconds: number
  readonly mainThreadSeconds: number
}

/** Measures the cockpit under keyboard control: the latency of a key, and the tasks that block the page. */
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
  { warmUpSeconds, seconds }: ConsolePlan,
  parts: { browser: Browser; streamUrl: string },
): Promise<Driven> {
  const page = await parts.browser.newPage({ viewport: { width: 1_440, height: 900 }, locale: 'en-GB' })
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
    return {
      readings: await takeReadings(page),
      seconds: (performance.now() - startedMs) / 1_000,
      mainThreadSeconds,
    }
  } finally {
    await environment.close()
  }
}

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

function rowsOf({ readings, seconds, mainThreadSeconds }: Driven): Row[] {
  const { inputToWireMs: inputs, longTasksMs, commands } = readings
  const shares = [0.5, 0.95, 0.99, 1].map((share) => figure(percentile(inputs, share)))
  const firstView = sum(firstViewScripts().map(([, bytes]) => bytes))
  return [
    {
      what: 'key event → its command passed to the WebSocket, p50 / p95 / p99 / max',
      measured: `${shares.join(' / ')} ms`,
      goal: `p99 < ${INPUT_LIMIT_MS} ms`,
      met: percentile(inputs, 0.99) < INPUT_LIMIT_MS,
    },
    {
      what: 'tasks of the main thread over 50 ms',
      measured: longTasksMs.length === 0 ? 'none' : `${longTasksMs.length}, ${longestOf(longTasksMs)}`,
      goal: 'none',
      met: longTasksMs.length === 0,
    },
    // Without commands, the other rows would describe an idle page.
    {
      what: 'commands sent',
      measured: `${figure(commands / seconds)}/s`,
      goal: `≥ ${LEAST_COMMANDS_HZ}/s`,
      met: commands / seconds >= LEAST_COMMANDS_HZ,
    },
    { what: 'main thread', measured: `${figure((mainThreadSeconds / seconds) * 100)} % busy` },
    {
      what: 'script of the first view, Brotli',
      measured: `${figure(firstView / 1_000)} kB`,
      goal: `< ${FIRST_VIEW_LIMIT_BYTES / 1_000} kB`,
      met: firstView < FIRST_VIEW_LIMIT_BYTES,
    },
  ]
}

const longestOf = (tasksMs: readonly number[]) => `the longest ${figure(Math.max(...tasksMs))} ms`

const notesOf = ({ readings, seconds }: Driven, browser: { version: string; kilobytes: number }) => [
  `Chromium ${browser.version} without a GPU; ${Math.round(seconds)} s; ${readings.inputToWireMs.length} key events, each measured from the timestamp that the browser sets.`,
  `Load: ${COMMANDS_HZ} commands a second while a key is held, telemetry at ${TELEMETRY_HZ} Hz, MJPEG video of ${CAMERA.width} × ${CAMERA.height} at ${CAMERA.hz} Hz (${figure(browser.kilobytes)} kB a picture) decoded by the page, a chat message every ${MESSAGE_EVERY_MS / 1_000} s.`,
  'Wheelhouse, its PostgreSQL, the robot, the camera and the program that presses the keys run on the same machine.',
]
