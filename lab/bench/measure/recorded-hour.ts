import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../../../test/support/browser/launch-chromium.ts'
import { findProgram } from '../../../test/support/programs/installed-programs.ts'
import { keyFor, requesterOf, signIn } from '../console/browser-user.ts'
import type { Lab } from '../lab.ts'
import type { Plan, RecordedHourPlan } from '../options.ts'
import { PICTURE } from '../recorded-hour/encode-pictures.ts'
import { type ExportRun, measureExport } from '../recorded-hour/measure-export.ts'
import {
  measureOpenings,
  measurePlayback,
  type Openings,
  type PageMemory,
} from '../recorded-hour/measure-replay.ts'
import { createRecordedSession, type RecordedSession } from '../recorded-hour/recorded-session.ts'
import { CONTROL_HZ, TELEMETRY_HZ } from '../recorded-hour/write-recording.ts'
import type { Row, Section } from '../report.ts'
import { figure, median } from '../stats.ts'
import { startWheelhouse, type Wheelhouse } from '../targets.ts'

const title = 'A recorded hour: its export and its replay'
const MB = 1_000_000
const HOUR_S = 3_600
const GOALS = { exportMs: 60_000, exportBytes: 300 * MB, firstPictureMs: 1_000, growth: 1.1 }

interface Measured {
  readonly session: RecordedSession
  readonly exports: readonly ExportRun[]
  readonly openings: Openings
  readonly playback: readonly PageMemory[]
}

/** Measures the export of a long recording as a dataset, and its replay in a browser. */
export async function measureRecordedHour(lab: Lab, { recordedHour: plan }: Plan): Promise<Section> {
  const program = findProgram('chromium')
  if (!program) return { title, rows: [], notes: ['Not measured: chromium is not on the PATH.'] }
  const browser = await launchChromium(program)
  const wheelhouse = await startWheelhouse(lab, 'single')
  try {
    const measured = await measureAll(lab, plan, { browser, wheelhouse })
    return {
      title,
      rows: [...exportRows(plan, measured), ...replayRows(plan, measured)],
      notes: notesOf(plan, measured, browser.version()),
    }
  } finally {
    await browser.close()
    await wheelhouse.stop()
  }
}

async function measureAll(
  lab: Lab,
  plan: RecordedHourPlan,
  { browser, wheelhouse }: { browser: Browser; wheelhouse: Wheelhouse },
): Promise<Measured> {
  const { apiUrl } = wheelhouse
  const email = `${randomUUID()}@bench.local`
  const context = await browser.newContext()
  await signIn(await context.newPage(), apiUrl, email)
  const [request, apiKey] = [requesterOf(apiUrl), await keyFor(lab, email)]
  await request(apiKey, 'POST', '/api/auth/profile', { role: 'client' })
  await request(apiKey, 'PATCH', '/api/client/profile', { contact_email: email })
  const state = await context.storageState()
  await context.close()
  const { rows } = await lab.db.query<{ id: string }>('select id from users where email = $1', [email])
  const session = await createRecordedSession(lab, String(rows[0]?.id), plan.seconds)

  const exports: ExportRun[] = []
  for (const count of plan.episodes)
    exports.push(
      await measureExport({ wheelhouse, request, apiKey, episodeIds: await session.episodes(count) }),
    )
  const url = `${apiUrl}/dashboard/sessions/${session.sessionId}/replay`
  const target = { state, url, seconds: plan.seconds }
  const openings = await measureOpenings(browser, { ...target, count: plan.openings })
  return { session, exports, openings, playback: await measurePlayback(browser, target) }
}

const seconds = (ms: number) => `${figure(ms / 1_000)} s`
const megabytes = (bytes: number) => `${figure(bytes / MB)} MB`

/** Returns the columns of a goal. The goals hold for an hour; a shorter recording is for comparison. */
const goal = (plan: RecordedHourPlan, text: string, met: boolean) =>
  plan.seconds === HOUR_S ? { goal: text, met } : {}

const exportRows = (plan: RecordedHourPlan, { exports }: Measured): Row[] =>
  exports.flatMap(({ episodes, wallMs, cpuMs, idleBytes, peakBytes }) => [
    {
      what: `export, ${episodes === 1 ? 'one episode' : `${episodes} episodes`}: duration (processor time)`,
      measured: `${seconds(wallMs)} (${seconds(cpuMs)})`,
      ...goal(plan, `≤ ${seconds(GOALS.exportMs)}`, wallMs <= GOALS.exportMs),
    },
    {
      what: 'its memory: the process without / with the export at most',
      measured: `${megabytes(idleBytes)} / ${megabytes(peakBytes)}, + ${megabytes(peakBytes - idleBytes)}`,
      ...goal(plan, `+ ≤ ${megabytes(GOALS.exportBytes)}`, peakBytes - idleBytes <= GOALS.exportBytes),
    },
  ])

function replayRows(plan: RecordedHourPlan, { openings, playback }: Measured): Row[] {
  const [warm, cold] = [median(openings.warmMs), median(openings.coldMs)]
  const [first, last] = [playback[0], playback.at(-1)]
  const growth = (of: (sample: PageMemory) => number) => {
    if (!first || !last) return { measured: 'no sample', ratio: Number.NaN }
    const ratio = of(last) / of(first)
    return { measured: `${megabytes(of(first))} / ${megabytes(of(last))}, × ${figure(ratio)}`, ratio }
  }
  const [heap, resident] = [growth((sample) => sample.heapBytes), growth((sample) => sample.residentBytes)]
  const flat = `≤ × ${GOALS.growth}`
  return [
    {
      what: 'replay opened: first picture, with the console in the cache',
      measured: `${figure(warm)} ms (worst ${figure(Math.max(...openings.warmMs))})`,
      ...goal(plan, `≤ ${GOALS.firstPictureMs} ms`, warm <= GOALS.firstPictureMs),
    },
    {
      what: 'the same without a cache',
      measured: `${figure(cold)} ms (worst ${figure(Math.max(...openings.coldMs))})`,
    },
    {
      what: 'page played at eight times the speed: objects of scripts, after a fifth / at the end',
      measured: heap.measured,
      ...goal(plan, flat, heap.ratio <= GOALS.growth),
    },
    {
      what: 'its process: resident memory, after a fifth / at the end',
      measured: resident.measured,
      ...goal(plan, flat, resident.ratio <= GOALS.growth),
    },
  ]
}

const notesOf = (plan: RecordedHourPlan, { session, exports, openings }: Measured, version: string) => [
  `The recording: ${plan.seconds} s, control at ${CONTROL_HZ} Hz, telemetry at ${TELEMETRY_HZ} Hz, a VP8 camera of ${PICTURE.width} × ${PICTURE.height} at ${PICTURE.hz} Hz; ${megabytes(session.sizeBytes)}, on the local disk.`,
  `Export: LeRobot v3 at ${PICTURE.hz} rows a second, ${figure(exports[0]?.frames ?? 0)} rows, ${megabytes(exports[0]?.datasetBytes ?? 0)}. The process has all roles; the export is a thread of it.`,
  `Replay: Chromium ${version} without a GPU; ${openings.warmMs.length} openings each, at moments spread over the recording, from the start of the navigation; the medians.`,
]
