import { setTimeout as delay } from 'node:timers/promises'
import type { CommitReport, SessionLane } from '../hub/commits.ts'
import { costOf, costText, type DatabaseUse, databaseUse, subscribe } from '../hub/database-use.ts'
import { startSocketIoNodes, startWheelhouseHubs } from '../hub/hub-servers.ts'
import type { HubScenario } from '../hub/scenario.ts'
import type { Lab } from '../lab.ts'
import type { HubPlan } from '../options.ts'
import type { Row } from '../report.ts'
import { figure, percentile } from '../stats.ts'
import { startApi } from '../targets.ts'
import { type HubTools, withHubGenerator } from './hub-tools.ts'

const SESSIONS = 20
const WARM_UP_MS = 3_000
const SETTLE_MS = 1_500
/** Limit of p50 and p99, as a multiple of those of bare Socket.IO in the same run. */
const MOST_RATIO = 4

interface Measured {
  readonly perSecond: number
  readonly report: CommitReport
  /** The work of the database for one commit. */
  readonly cost: DatabaseUse
  readonly pauses: { readonly p99Ms: number; readonly maxMs: number }
}

/** Measures from a commit over REST to an observer at the hub that does not run the outbox relay. */
export async function latencyRows(
  lab: Lab,
  plan: HubPlan,
  scenario: HubScenario,
  redisUrl: string,
): Promise<{ rows: Row[]; notes: string[] }> {
  const rooms = scenario.rooms.slice(0, SESSIONS)
  const bareNodes = await startSocketIoNodes(lab, redisUrl, 2)
  const bare = await measured(lab, plan, (): SessionLane[] =>
    rooms.map((room) => ({
      sessionId: room.sessionId,
      by: { over: 'Socket.IO', address: bareNodes.subscription(room, 0).address },
      observer: bareNodes.subscription(room, 1).address,
    })),
  ).finally(() => bareNodes.stop())

  const api = await startApi(lab, redisUrl)
  const hubs = await startWheelhouseHubs(lab, redisUrl, 2)
  const lanes = (): SessionLane[] =>
    rooms.map((room) => ({
      sessionId: room.sessionId,
      by: { over: 'REST', port: api.port, apiKey: room.operator.apiKey },
      observer: hubs.subscription(room, 1).address,
    }))
  const measureBoth = async () => {
    const ours = await measured(lab, plan, lanes)
    await subscribe(lab, rooms)
    return {
      ours,
      subscribed: await measured(lab, { ...plan, commitRates: plan.commitRates.slice(-1) }, lanes),
    }
  }
  const { ours, subscribed } = await measureBoth().finally(() => Promise.all([api.stop(), hubs.stop()]))

  return {
    rows: [
      ...bare.map((item) => ({
        what: `emit at one node → client at the other, ${item.perSecond}/s: Socket.IO, p50 / p99 / max`,
        measured: latencies(item.report.fromRequestMs),
      })),
      ...ours.flatMap((item) => wheelhouseRows(item, bareAt(bare, item.perSecond))),
      ...subscribed.flatMap(subscribedRows),
    ],
    notes: [
      `Latency: ${SESSIONS} sessions, each with one commit in flight, evenly spread; ${plan.commitSeconds} s after ${WARM_UP_MS / 1_000} s of warming up. ` +
        'One process sends and observes, so one clock measures; it waits for events and does not spin. ' +
        'Bare Socket.IO for comparison: a client requests an emit from one node, without database and HTTP. ' +
        'The limits are multiples of its latencies in the same run. Transactions, rows and bytes of the write-ahead log are those of ' +
        'the whole database in this time, divided by the messages: polls are included.',
      `Longest pause of the load generator: ${figure(Math.max(...[...bare, ...ours].map(({ pauses }) => pauses.maxMs)))} ms ` +
        `(p99 of its turns ${figure(Math.max(...[...bare, ...ours].map(({ pauses }) => pauses.p99Ms)))} ms).`,
    ],
  }
}

async function measured(lab: Lab, plan: HubPlan, channels: () => SessionLane[]): Promise<Measured[]> {
  return await withHubGenerator(lab, async ({ generator }: HubTools) => {
    const all: Measured[] = []
    await delay(SETTLE_MS) // one of the hubs now runs the outbox relay
    await generator('commits', channels(), plan.commitRates[0] ?? 1, WARM_UP_MS)
    for (const perSecond of plan.commitRates) {
      await generator('watchPauses')
      const before = await databaseUse(lab)
      const report = await generator('commits', channels(), perSecond, plan.commitSeconds * 1_000)
      const pauses = await generator('pauses')
      const cost = costOf(before, await databaseUse(lab), report.answerMs.length)
      all.push({ perSecond, report, cost, pauses })
    }
    return all
  })
}

const latencies = (ms: readonly number[]) =>
  `${[percentile(ms, 0.5), percentile(ms, 0.99), Math.max(...ms)].map(figure).join(' / ')} ms`

const bareAt = (bare: readonly Measured[], rate: number) =>
  bare.find(({ perSecond }) => perSecond === rate)?.report.fromRequestMs ?? []

function wheelhouseRows({ perSecond, report, cost }: Measured, bareMs: readonly number[]): Row[] {
  const { fromRequestMs, fromAnswerMs, answerMs, unseen, late } = report
  const within = (share: number) => percentile(fromRequestMs, share) <= MOST_RATIO * percentile(bareMs, share)
  const limit = (share: number) => `${figure(MOST_RATIO * percentile(bareMs, share))} ms`
  const what = `message over REST, ${perSecond}/s`
  return [
    {
      what: `${what}: request → client at the other hub, p50 / p99 / max`,
      measured: `${latencies(fromRequestMs)}; ${figure(unseen)} of ${figure(answerMs.length)} never received`,
      goal: `≤ ${MOST_RATIO} × Socket.IO: p50 ≤ ${limit(0.5)}, p99 ≤ ${limit(0.99)}, all`,
      met: within(0.5) && within(0.99) && unseen === 0,
    },
    {
      what: `— its answer → client at the other hub, p50 / p99 / max`,
      measured: `${latencies(fromAnswerMs)} (below 0: received before the answer)`,
    },
    {
      what: '— request → its answer, p50 / p99 / max',
      measured: `${latencies(answerMs)}; ${figure(late)} sent late`,
    },
    { what: '— cost of a message in the database', measured: costText(cost) },
  ]
}

const subscribedRows = ({ perSecond, report, cost }: Measured): Row[] => [
  {
    what: `message over REST, ${perSecond}/s, both users subscribe to events: request → client at the other hub, p50 / p99 / max`,
    measured: `${latencies(report.fromRequestMs)}; ${costText(cost)}`,
  },
]
