import { FIRST_VIEW_LIMIT_BYTES, firstViewScripts } from '../../../test/support/browser/first-view.ts'
import type { Row } from '../report.ts'
import { figure, median, percentile, sum } from '../stats.ts'
import { type FirstLoad, SLOW } from './first-load.ts'
import type { Relinked } from './outages.ts'
import type { PageReadings } from './page-metrics.ts'
import { PICTURE_SIZES } from './picture-share.ts'

/** Browser timers are sometimes late; inputs add further commands. */
const LEAST_COMMANDS_HZ = 48
/** Duration of one frame of a screen. */
const INPUT_LIMIT_MS = 16
const SIGN_IN_LIMIT_MS = 800
const NOTICED_LIMIT_MS = 1_000
const RELINKED_LIMIT_MS = 3_000
/** Tools report less as 0: it is the shift of a letter. */
const LEAST_SHIFT = 0.000_1

/** The results of the measurements of the console. */
export interface Driven {
  readonly readings: PageReadings
  readonly seconds: number
  readonly mainThreadSeconds: number
  /** The share of the window that the picture fills, for each of `PICTURE_SIZES`. */
  readonly pictureShares: readonly number[]
  /** From the beginning of each silence until the badge was no longer LIVE. */
  readonly silencesMs: readonly number[]
  readonly firstLoads: FirstLoads
  readonly relinked: Relinked
}

/** The page for visitors, and the home page of a signed-in operator. */
export interface FirstLoads {
  readonly signIn: FirstLoad
  readonly home: FirstLoad
}

/** Returns the rows of the report. */
export const rowsOf = (driven: Driven): Row[] => [
  ...drivingRows(driven),
  pictureRow(driven.pictureShares),
  ...outageRows(driven),
  ...loadRows(driven.firstLoads),
]

function drivingRows({ readings, seconds, mainThreadSeconds }: Driven): Row[] {
  const { inputToWireMs: inputs, longTasksMs, commands } = readings
  const shares = [0.5, 0.95, 0.99, 1].map((share) => figure(percentile(inputs, share)))
  const shift = sum(readings.layoutShifts.filter((value) => value >= LEAST_SHIFT))
  return [
    {
      what: 'key event → its command passed to the connection, p50 / p95 / p99 / max',
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
    { what: 'layout shifts while driving (CLS)', measured: figure(shift), goal: '0', met: shift === 0 },
  ]
}

const pictureRow = (shares: readonly number[]): Row => ({
  what: `share of the picture at ${PICTURE_SIZES.map(({ width, height }) => `${width} × ${height}`).join(' / ')}`,
  measured: shares.map(figure).join(' / '),
  goal: `≥ ${PICTURE_SIZES.map(({ least }) => least).join(' / ')}`,
  met: PICTURE_SIZES.every(({ least }, index) => (shares[index] ?? 0) >= least),
})

const middleAndWorst = (ms: readonly number[]) => `${figure(median(ms))} / ${figure(Math.max(...ms))} ms`

const outageRows = ({ silencesMs, relinked: { afterStart, afterStop } }: Driven): Row[] => [
  {
    what: `network silent → badge not LIVE, p50 / worst of ${silencesMs.length}`,
    measured: middleAndWorst(silencesMs),
    goal: `≤ ${NOTICED_LIMIT_MS} ms`,
    met: Math.max(...silencesMs) <= NOTICED_LIMIT_MS,
  },
  {
    what: `Wheelhouse serves after a restart → cockpit connected to gateway and hub, p50 / worst of ${afterStart.length}`,
    measured: middleAndWorst(afterStart),
    goal: `≤ ${RELINKED_LIMIT_MS} ms`,
    met: Math.max(...afterStart) <= RELINKED_LIMIT_MS,
  },
  {
    what: '— the same from SIGTERM to the old process',
    measured: middleAndWorst(afterStop),
  },
]

function loadRows({ signIn, home }: FirstLoads): Row[] {
  const firstView = sum(firstViewScripts().map(([, bytes]) => bytes))
  const connection = `${SLOW.megabitsPerSecond} Mbit/s and ${SLOW.latencyMs} ms`
  const received = ({ shownMs, bytes }: FirstLoad) => `${figure(shownMs)} ms, ${figure(bytes / 1_000)} kB`
  return [
    {
      what: 'script of the first view, Brotli',
      measured: `${figure(firstView / 1_000)} kB`,
      goal: `< ${FIRST_VIEW_LIMIT_BYTES / 1_000} kB`,
      met: firstView < FIRST_VIEW_LIMIT_BYTES,
    },
    {
      what: `sign-in button shown, first visit, ${connection}`,
      measured: received(signIn),
      goal: `≤ ${SIGN_IN_LIMIT_MS} ms`,
      met: signIn.shownMs <= SIGN_IN_LIMIT_MS,
    },
    { what: `home page shown, signed in, empty cache, ${connection}`, measured: received(home) },
  ]
}

const longestOf = (tasksMs: readonly number[]) => `the longest ${figure(Math.max(...tasksMs))} ms`
