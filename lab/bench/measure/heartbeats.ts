import { setTimeout as delay } from 'node:timers/promises'
import type { Probe } from '../../../test/support/processes/probe.ts'
import { callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import { type Fleet, startFleet } from '../fleet/fleet.ts'
import type { Flood } from '../fleet/heartbeat-load.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Row, Section } from '../report.ts'
import { resetPresence } from '../seed.ts'
import type { UnnestWriter } from '../servers/unnest-only.ts'
import { figure, sum } from '../stats.ts'
import { gatewayShape, startBare, startWheelhouse, startWsPeer, type Target } from '../targets.ts'
import { complaintsOf, untilSaved } from './persisted-heartbeats.ts'

const BEATS_PER_WRITE = 16
const LEAST_RATIO = 0.6
/** Wheelhouse writes a robot at most once a second; after this time all acknowledged beats must be stored. */
const SAVED_WITHIN_MS = 10_000

interface Throughput {
  readonly beatsPerSecond: number
  readonly cpuUsPerBeat: number
}

/** Measures how many heartbeats each contender processes at most. */
export async function measureHeartbeats(lab: Lab, plan: Plan): Promise<Section> {
  const bare = await floodBare(lab, plan)
  const unnest = await writeOnly(lab, plan)
  const ws = await floodWs(lab, plan)
  const wheelhouse = await floodWheelhouse(lab, plan)

  const limit = Math.min(bare.beatsPerSecond, unnest.beatsPerSecond)
  const ratio = wheelhouse.beatsPerSecond / limit
  const line = (what: string, { beatsPerSecond, cpuUsPerBeat }: Throughput): Row => ({
    what,
    measured: `${figure(beatsPerSecond)}/s, ${figure(cpuUsPerBeat)} µs CPU each`,
  })
  return {
    title: 'Heartbeats, as many as possible',
    rows: [
      line('bare uWebSockets.js, receives and drops', bare),
      line('UNNEST update only, rows', unnest),
      line('ws: parse, ack, coalesce, write', ws),
      line('Wheelhouse gateway', wheelhouse),
      {
        what: 'Wheelhouse / min(bare uWebSockets.js, UNNEST)',
        measured: figure(ratio),
        goal: `≥ ${LEAST_RATIO}`,
        met: ratio >= LEAST_RATIO,
      },
      {
        what: 'robots whose acknowledged beats are missing in PostgreSQL',
        measured: `${wheelhouse.unsaved}, ${figure(wheelhouse.afterMs)} ms after the flood`,
        goal: '0',
        met: wheelhouse.unsaved === 0,
      },
    ],
    notes: [
      `${figure(plan.robots)} robots; each sends ${BEATS_PER_WRITE} beats in one write, and again when all are answered; ` +
        `${plan.floodSeconds} s after ${plan.warmUpMs / 1_000} s of warming up. The bare server answers one ping for each ${BEATS_PER_WRITE} beats.`,
      'Beats of one robot are coalesced: ws and Wheelhouse write each robot once a second, the UNNEST row counts rows.',
      'Wheelhouse answers several beats with one acknowledgement while it is overloaded; ws answers each.',
      "CPU is that of the server's process (UNNEST: of the writing client), without PostgreSQL and the generator.",
      ...wheelhouse.complaints,
      `Longest pause of the load generator while it flooded Wheelhouse: ${figure(wheelhouse.pauseMs)} ms.`,
    ],
  }
}

async function floodBare(lab: Lab, plan: Plan): Promise<Throughput> {
  const server = await startBare(lab)
  const counted = () => server.bare('received')
  return await flooded(lab, plan, server, { beatsPerWrite: BEATS_PER_WRITE, answeredBy: 'pong' }, counted)
}

async function floodWs(lab: Lab, plan: Plan): Promise<Throughput> {
  await resetPresence(lab.db, 'connected')
  return await flooded(lab, plan, await startWsPeer(lab), byAcks)
}

async function floodWheelhouse(lab: Lab, plan: Plan) {
  await resetPresence(lab.db, 'away')
  let saved = { unsaved: 0, afterMs: 0 }
  const gateway = await startWheelhouse(lab, gatewayShape(lab))
  const measured = await flooded(lab, plan, gateway, byAcks, undefined, async (fleet) => {
    // After the flood, the robots would soon count as silent; they continue at their normal rate.
    await fleet.startSteady(1, 0)
    saved = await untilSaved(lab.db, await fleet.lastAcked(), SAVED_WITHIN_MS)
    await fleet.stopBeats()
  })
  return { ...measured, ...saved, complaints: complaintsOf(gateway.child) }
}

const byAcks: Flood = { beatsPerWrite: BEATS_PER_WRITE, answeredBy: 'acks' }

/** Floods a server with its own fleet, then ends both. */
async function flooded(
  lab: Lab,
  plan: Plan,
  server: Target,
  flood: Flood,
  countedByServer?: () => Promise<number>,
  afterwards?: (fleet: Fleet) => Promise<void>,
): Promise<Throughput & { pauseMs: number }> {
  const fleet = await startFleet(lab.children, plan.robots)
  try {
    await fleet.open(lab.robots.slice(0, plan.robots), server.destination)
    await fleet.startFlood(flood)
    await delay(plan.warmUpMs)
    const count = async () =>
      countedByServer ? await countedByServer() : sum((await fleet.report()).map((item) => item.acked))
    const before = { count: await count(), ...(await server.probe('usage')) }
    await delay(plan.floodSeconds * 1_000)
    const after = { count: await count(), ...(await server.probe('usage')) }
    const pauseMs = Math.max(...(await fleet.report()).map((item) => item.pauseMaxMs))
    await fleet.stopBeats()
    await afterwards?.(fleet)
    const beats = after.count - before.count
    return {
      beatsPerSecond: (beats / (after.atMs - before.atMs)) * 1_000,
      cpuUsPerBeat: (after.cpuUs - before.cpuUs) / beats,
      pauseMs,
    }
  } finally {
    await fleet.stop()
    await server.stop()
  }
}

async function writeOnly(lab: Lab, plan: Plan): Promise<Throughput> {
  await resetPresence(lab.db, 'connected')
  const child = lab.children.run('lab/bench/servers/unnest-only.ts')
  try {
    await readyPort(child.process)
    const probe = callerOf<Probe>(child.process)
    const writer = callerOf<UnnestWriter>(child.process)
    const ids = lab.robots.slice(0, plan.robots).map((robot) => robot.id)
    await writer('write', lab.databaseUrl, ids, plan.warmUpMs)
    const before = await probe('usage')
    const { rows, tookMs } = await writer('write', lab.databaseUrl, ids, plan.floodSeconds * 1_000)
    const after = await probe('usage')
    return { beatsPerSecond: (rows / tookMs) * 1_000, cpuUsPerBeat: (after.cpuUs - before.cpuUs) / rows }
  } finally {
    await child.stop()
  }
}
