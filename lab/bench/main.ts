import type { Lab } from './lab.ts'
import { openLab } from './lab.ts'
import { measureConsole } from './measure/console.ts'
import { measureControl } from './measure/control.ts'
import { measureHeartbeats } from './measure/heartbeats.ts'
import { measureHub } from './measure/hub.ts'
import { measureMemory } from './measure/memory.ts'
import { measureOrganizations } from './measure/organizations.ts'
import { measurePresence } from './measure/presence.ts'
import { measureRecordedHour } from './measure/recorded-hour.ts'
import { measureRecording } from './measure/recording.ts'
import { measureRelay } from './measure/relay.ts'
import { measureRest } from './measure/rest.ts'
import { measureSilence } from './measure/silence.ts'
import { measureSteady } from './measure/steady.ts'
import { measureVideo } from './measure/video.ts'
import { type Measurement, measurements, type Plan, readPlan, usage } from './options.ts'
import { reportMarkdown, type Section, sectionText } from './report.ts'
import { writeReportPart } from './report-file.ts'
import { describeMachine, robotsPerProcess, waitForQuiet } from './system.ts'

/** Share of the machine that other programs may use before a missed goal is measured again. */
const DISTURBED_SHARE = 0.15
/** Time since the start, after which no measurement is repeated. */
const REPEAT_UNTIL_MS = 300_000

const measure: Record<Measurement, (lab: Lab, plan: Plan) => Promise<Section>> = {
  heartbeats: measureHeartbeats,
  steady: measureSteady,
  memory: measureMemory,
  presence: measurePresence,
  silence: measureSilence,
  rest: measureRest,
  relay: measureRelay,
  control: measureControl,
  recording: measureRecording,
  'recorded-hour': measureRecordedHour,
  hub: measureHub,
  console: measureConsole,
  video: measureVideo,
  organizations: measureOrganizations,
}

const print = (text: string) => process.stdout.write(`${text}\n`)

function checkedPlan(): Plan {
  const plan = readPlan(process.argv.slice(2))
  if (plan === 'help') {
    print(usage)
    process.exit(0)
  }
  const most = robotsPerProcess()
  if (plan.robots > most)
    throw new Error(
      `A process can open files for only ${most} robots. Raise the limit (ulimit -n), or lower --robots.`,
    )
  return plan
}

/** Measures when the machine is quiet; repeats a measurement that missed its goal on a busy machine. */
async function undisturbed(plan: Plan, work: () => Promise<Section>) {
  for (let attempt = 1; ; attempt++) {
    const busyBefore = await waitForQuiet(plan.quietLimitMs)
    const startedMs = performance.now()
    const section = await work()
    const tookMs = performance.now() - startedMs
    const busy = Math.max(busyBefore, await waitForQuiet(0))
    print(sectionText(section))
    print(
      `    (${Math.round(tookMs / 1_000)} s; other programs: ${Math.round(busy * 100)} % of the machine)\n`,
    )
    const missed = section.rows.some((row) => row.met === false)
    const timeLeft = performance.now() + tookMs < REPEAT_UNTIL_MS
    if (attempt > 1 || plan.quick || !missed || busy <= DISTURBED_SHARE || !timeLeft) return { section, busy }
    print('    Other programs disturbed the measurement: repeating it.\n')
  }
}

async function run(plan: Plan, lab: Lab): Promise<void> {
  const machine = describeMachine(lab)
  print(`${machine.join('\n')}\n`)
  if (!lab.redisUrl) {
    print(
      'redis-server is not on the PATH: the gateway is measured together with all other roles, and nothing with\n' +
        'gateway and hub in separate processes. Install it (Debian: apt-get install redis-server; macOS: brew install redis).\n',
    )
  }
  const sections: Section[] = []
  let busiest = 0
  for (const name of measurements.filter((item) => plan.only.includes(item))) {
    const { section, busy } = await undisturbed(plan, () => measure[name](lab, plan))
    sections.push(section)
    busiest = Math.max(busiest, busy)
  }
  const disturbance = `Before or after a measurement, other programs used up to ${Math.round(busiest * 100)} % of the machine.`
  print(disturbance)
  if (plan.quick || plan.only.length < measurements.length) return
  const date = new Date().toISOString().slice(0, 10)
  const { command } = plan
  await writeReportPart(
    'benchmark',
    reportMarkdown({ sections, machine, command, date, remarks: [disturbance] }),
  )
  print('Written to docs/benchmarks.md.')
}

async function main(): Promise<void> {
  const plan = checkedPlan()
  let close: Lab['close'] = async () => {}
  const interrupted = async () => {
    print('\nInterrupted. Cleaning up.')
    await close()
    process.exit(130)
  }
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    const mostRobots = Math.max(plan.robots, plan.idleRobots, plan.droppedRobots)
    const lab = await openLab(mostRobots, (closeLab) => {
      close = closeLab
    })
    await run(plan, lab)
  } finally {
    await close()
  }
}

main().catch((cause: unknown) => {
  process.stderr.write(`\n${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
})
