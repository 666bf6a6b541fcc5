import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import {
  type Absent,
  type Relay,
  startBareRelay,
  startMosquitto,
  startNats,
  startSocketIoRelay,
  startWsRelay,
} from '../relay/relays.ts'
import { startWheelhouseRelay } from '../relay/wheelhouse.ts'
import type { Row, Section } from '../report.ts'
import { complaintsOf } from './persisted-heartbeats.ts'
import { relayCost } from './relay-cost.ts'
import { faultRows } from './relay-faults.ts'
import { judgedRows, measuredRows, notes } from './relay-rows.ts'
import { type Carried, carry, withGenerator } from './relay-runs.ts'

/** Peers of Wheelhouse. The limit is last, directly before the run that is compared with it. */
const peers: readonly ((lab: Lab) => Promise<Relay | Absent>)[] = [
  startMosquitto,
  startNats,
  startSocketIoRelay,
  startWsRelay,
  (lab) => startBareRelay(lab),
]

/** Measures control from operators to robots, through Wheelhouse and through others. */
export async function measureRelay(lab: Lab, plan: Plan): Promise<Section> {
  if (plan.before !== undefined) return await relayCost(lab, plan, plan.before)
  const measured: Carried[] = []
  const absent: Absent[] = []
  for (const start of peers) {
    const relay = await start(lab)
    if (typeof relay === 'string') absent.push(relay)
    else measured.push(await carriedBy(lab, plan, relay))
  }
  const { carried, faultRuns, complaints } = await throughWheelhouse(lab, plan)
  const realTime = await startWheelhouseRelay(lab, plan.relay.floodPairs, { realTime: true })
  measured.push(carried, await carriedBy(lab, plan, realTime).finally(realTime.cleanUp))
  measured.push(await carriedBy(lab, plan, await startBareRelay(lab, true)))
  return {
    title: 'Control relay, operator to robot',
    rows: [...measuredRows(plan.relay, measured), ...judgedRows(plan.relay, measured), ...faultRuns],
    notes: [
      ...absent.map((why) => `Not measured: ${why}.`),
      ...notes(lab, plan.relay, measured),
      ...complaints,
      ...complaintsOf(realTime.child),
    ],
  }
}

async function carriedBy(lab: Lab, plan: Plan, relay: Relay): Promise<Carried> {
  try {
    return await withGenerator(lab, (tools) => carry(plan.relay, relay, tools))
  } finally {
    await relay.stop()
  }
}

async function throughWheelhouse(
  lab: Lab,
  plan: Plan,
): Promise<{ carried: Carried; faultRuns: Row[]; complaints: string[] }> {
  const { floodPairs, stopRequests } = plan.relay
  const relay = await startWheelhouseRelay(lab, Math.max(floodPairs, stopRequests))
  try {
    return await withGenerator(lab, async (tools) => {
      const carried = await carry(plan.relay, relay, tools)
      const faultRuns = await faultRows({ lab, plan: plan.relay, relay, tools, connected: floodPairs })
      return { carried, faultRuns, complaints: complaintsOf(relay.child) }
    })
  } finally {
    await relay.stop()
    await relay.cleanUp()
  }
}
