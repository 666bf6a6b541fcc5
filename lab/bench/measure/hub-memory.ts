import { setTimeout as delay } from 'node:timers/promises'
import { type HubServer, startSocketIoNodes, startWheelhouseHubs } from '../hub/hub-servers.ts'
import type { HubScenario } from '../hub/scenario.ts'
import type { Lab } from '../lab.ts'
import type { HubPlan } from '../options.ts'
import type { Row } from '../report.ts'
import { figure } from '../stats.ts'
import { withHubGenerator } from './hub-tools.ts'

/** V8 enlarges its young generation in steps of megabytes, which would be attributed to connections. */
const fixedYoungGeneration = ['--min-semi-space-size=16', '--max-semi-space-size=16']
const SETTLE_MS = 2_000
/** Connections before the measured ones: shared structures exist afterwards. */
const WARM_UP = 100

/** Measures the memory of an idle connection in the hub's process. */
export async function memoryRows(
  lab: Lab,
  plan: HubPlan,
  scenario: HubScenario,
  redisUrl: string,
): Promise<Row[]> {
  const flags = { nodeFlags: fixedYoungGeneration }
  const bare = await perSocket(lab, plan, scenario, await startSocketIoNodes(lab, redisUrl, 1, flags))
  const hubs = await startWheelhouseHubs(lab, redisUrl, 1, fixedYoungGeneration)
  const ours = await perSocket(lab, plan, scenario, hubs)
  const row = (name: string, { rssBytes, heapBytes }: PerSocket): Row => ({
    what: `memory of an idle connection that watches a session: ${name}`,
    measured: `${figure(rssBytes)} B, of which ${figure(heapBytes)} B JavaScript heap`,
  })
  return [
    row('Socket.IO', bare),
    row('Wheelhouse hub', ours),
    { what: '— Wheelhouse / Socket.IO', measured: figure(ours.rssBytes / bare.rssBytes) },
  ]
}

interface PerSocket {
  readonly rssBytes: number
  readonly heapBytes: number
}

async function perSocket(
  lab: Lab,
  plan: HubPlan,
  scenario: HubScenario,
  server: HubServer,
): Promise<PerSocket> {
  const [node] = server.nodes
  if (!node) throw new Error('The hub has no process to measure.')
  const { idleSockets } = plan
  const subscriptions = Array.from({ length: WARM_UP + idleSockets }, (_, index) =>
    server.subscription(scenario.rooms[index % scenario.rooms.length] as HubScenario['rooms'][number], 0),
  )
  try {
    return await withHubGenerator(lab, async ({ generator }) => {
      await generator('sit', subscriptions.slice(0, WARM_UP))
      await delay(SETTLE_MS)
      const before = await node.probe('memory')
      await generator('sit', subscriptions.slice(WARM_UP))
      await delay(SETTLE_MS)
      const after = await node.probe('memory')
      const closed = await generator('closed')
      if (closed > 0) throw new Error(`${closed} idle connections were lost`)
      return {
        rssBytes: (after.rssBytes - before.rssBytes) / idleSockets,
        heapBytes: (after.heapBytes - before.heapBytes) / idleSockets,
      }
    })
  } finally {
    await server.stop()
  }
}
