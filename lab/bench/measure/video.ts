import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from '../../../test/support/processes/rpc.ts'
import { findProgram } from '../../../test/support/programs/installed-programs.ts'
import type { Lab } from '../lab.ts'
import type { Plan, VideoPlan } from '../options.ts'
import type { Row, Section } from '../report.ts'
import { figure, percentile, sum } from '../stats.ts'
import type { CameraProgram } from '../video/camera.ts'
import { type CockpitVideo, measureCockpitVideo } from '../video/cockpit.ts'
import { type ControlBesideVideo, measureControlBesideVideo } from '../video/control.ts'
import { openEnvironment, stream, type VideoEnvironment } from '../video/environment.ts'
import { direct, type Forwarder, startWheelhouseForwarder } from '../video/forwarders.ts'
import { startJanus } from '../video/janus.ts'

const GOALS = {
  addedP50Ms: 2,
  addedP99Ms: 10,
  viewersPerCore: 100,
  firstPictureMs: 500,
  lockoutMs: 500,
  backMs: 3_000,
}
/** Keyframes are requested at most twice a second, so that a viewer who joins sooner would wait for its turn. */
const BETWEEN_JOINS_MS = 700
/** Bytes of an RTP packet's payload. */
const PACKET_BYTES = 1_200

/** Results of one way of the pictures. */
interface Carried {
  readonly name: string
  /** Ages of complete frames at the viewers, with few of them. */
  readonly agesUs: readonly number[]
  readonly firstPicturesMs: readonly number[]
  /** With many viewers; undefined without a server. */
  readonly load: Load | undefined
}

interface Load {
  readonly cores: number
  readonly bytesPerViewer: number
  /** Share of the packets that arrived. */
  readonly arrived: number
}

/** Measures forwarding of a camera to viewers: latency, joining, processor time and memory of each viewer. */
export async function measureVideo(lab: Lab, { video: plan }: Plan): Promise<Section> {
  const base = await carry(lab, plan, async (camera) => direct(camera))
  const ours = await carry(lab, plan, () => startWheelhouseForwarder(lab, plan.viewers))
  const janus = await startJanus(lab)
  const peers = janus ? [await carry(lab, plan, async () => janus)] : []
  const control = await measureControlBesideVideo(lab, plan)
  const program = findProgram('chromium')
  const cockpit = program === undefined ? undefined : await measureCockpitVideo(lab, program, plan)
  return {
    title: 'Video, forwarded to viewers',
    rows: [
      ...[base, ours, ...peers].flatMap((way) => rowsOf(way, base, plan)),
      controlRow(control),
      ...(cockpit ? cockpitRows(cockpit) : []),
    ],
    notes: [
      `One camera of ${stream.bitsPerSecond / 1e6} Mbit/s and ${stream.framesPerSecond} frames a second, in one process; all viewers in another one, which decrypts every packet and decodes none.`,
      `Age of a frame: from its making to the arrival of its last packet, with ${plan.joins} viewers. First picture: from the request to the end of the first keyframe; these viewers join one after the other.`,
      'Cores: processor time of the forwarding process. Memory: its growth from no viewer to all of them.',
      'Cockpit: a page publishes a canvas of 640 × 360 with the time in it, and the cockpit of another page, in the same Chromium without a GPU, shows it. Halted: the gateway has stopped a driving robot because of the picture (video_limit_ms: 500).',
      ...(janus ? [] : ['Janus was not measured: it is not installed (Debian: apt-get install janus).']),
    ],
  }
}

async function carry(
  lab: Lab,
  plan: VideoPlan,
  start: (camera: Call<CameraProgram>) => Promise<Forwarder>,
): Promise<Carried> {
  const environment = await openEnvironment(lab, start)
  try {
    const { forwarder, viewers } = environment
    const empty = await forwarder.usage()
    const firstPicturesMs: number[] = []
    for (let id = 0; id < plan.joins; id++) {
      const beganMs = await forwarder.view(viewers, id)
      firstPicturesMs.push((await viewers('firstFrame', id)) - beganMs)
      await delay(BETWEEN_JOINS_MS)
    }
    const { ages: agesUs } = await environment.measure(plan.seconds)
    const load = empty && (await loadOf(environment, plan, empty.rssBytes))
    return { name: forwarder.name, agesUs, firstPicturesMs, load }
  } finally {
    await environment.close()
  }
}

/** Connects all viewers, and measures what they need. */
async function loadOf(
  { forwarder, ...environment }: VideoEnvironment,
  plan: VideoPlan,
  emptyBytes: number,
): Promise<Load> {
  await environment.join(plan.joins, plan.viewers)
  const [before, startedMs] = [await forwarder.usage(), performance.now()]
  const { packets } = await environment.measure(plan.seconds)
  const [after, tookUs] = [await forwarder.usage(), (performance.now() - startedMs) * 1_000]
  const packetsPerFrame = Math.ceil(stream.bitsPerSecond / 8 / stream.framesPerSecond / PACKET_BYTES)
  const expected = packetsPerFrame * stream.framesPerSecond * plan.seconds * plan.viewers
  return {
    cores: ((after?.cpuUs ?? 0) - (before?.cpuUs ?? 0)) / tookUs,
    bytesPerViewer: ((after?.rssBytes ?? 0) - emptyBytes) / plan.viewers,
    arrived: sum(packets) / expected,
  }
}

function rowsOf(way: Carried, base: Carried, plan: VideoPlan): Row[] {
  const isOurs = way.name === 'Wheelhouse'
  const age = (share: number, of = way) => percentile(of.agesUs, share) / 1_000
  const first = percentile(way.firstPicturesMs, 0.5)
  const rows: Row[] = [
    {
      what: `${way.name}: age of a frame, p50 / p99`,
      measured: `${figure(age(0.5))} / ${figure(age(0.99))} ms`,
    },
    {
      what: `${way.name}: first picture, p50 / worst`,
      measured: `${figure(first)} / ${figure(Math.max(...way.firstPicturesMs))} ms`,
      ...(isOurs && { goal: `p50 ≤ ${GOALS.firstPictureMs} ms`, met: first <= GOALS.firstPictureMs }),
    },
  ]
  if (!way.load) return rows
  const added = [0.5, 0.99].map((share) => age(share) - age(share, base)) as [number, number]
  return [
    ...rows,
    {
      what: `${way.name}: added latency, p50 / p99`,
      measured: `${figure(added[0])} / ${figure(added[1])} ms`,
      ...(isOurs && {
        goal: `≤ ${GOALS.addedP50Ms} / ${GOALS.addedP99Ms} ms`,
        met: added[0] <= GOALS.addedP50Ms && added[1] <= GOALS.addedP99Ms,
      }),
    },
    ...loadRows(way.name, way.load, plan, isOurs),
  ]
}

function loadRows(name: string, load: Load, { viewers }: VideoPlan, isOurs: boolean): Row[] {
  const perCore = viewers / load.cores
  return [
    {
      what: `${name}: ${viewers} viewers, cores / packets that arrived`,
      measured: `${figure(load.cores)} / ${figure(load.arrived * 100)} %`,
    },
    {
      what: `${name}: viewers of one core`,
      measured: figure(Math.round(perCore)),
      ...(isOurs && { goal: `≥ ${GOALS.viewersPerCore}`, met: perCore >= GOALS.viewersPerCore }),
    },
    { what: `${name}: memory of a viewer`, measured: `${figure(load.bytesPerViewer / 1_000)} kB` },
  ]
}

function cockpitRows({ glassToGlassMs, lockoutsMs, backMs }: CockpitVideo): Row[] {
  const [lockedOut, back] = [Math.max(...lockoutsMs), Math.max(...backMs)]
  return [
    {
      what: 'Cockpit: from camera to screen, p50 / p99',
      measured: `${figure(percentile(glassToGlassMs, 0.5))} / ${figure(percentile(glassToGlassMs, 0.99))} ms`,
    },
    {
      what: 'Cockpit: robot halted after the last picture before kill -9 of the forwarding process, p50 / worst',
      measured: `${figure(percentile(lockoutsMs, 0.5))} / ${figure(lockedOut)} ms`,
      goal: `≤ ${GOALS.lockoutMs} ms`,
      met: lockedOut <= GOALS.lockoutMs,
    },
    {
      what: 'Cockpit: live again after the kill, p50 / worst',
      measured: `${figure(percentile(backMs, 0.5))} / ${figure(back)} ms`,
      goal: `≤ ${GOALS.backMs} ms`,
      met: back <= GOALS.backMs,
    },
  ]
}

const controlRow = ({ withoutUs, besideUs }: ControlBesideVideo): Row => ({
  what: 'Wheelhouse: p99 of control, without / beside a camera with three viewers',
  measured: `${figure(withoutUs / 1_000)} / ${figure(besideUs / 1_000)} ms`,
})
