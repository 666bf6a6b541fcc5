import { setTimeout as delay } from 'node:timers/promises'
import type { DeliveryReport } from '../hub/deliveries.ts'
import {
  type HubServer,
  hubNames,
  startSocketIoNodes,
  startWheelhouseHubs,
  startWsBroadcast,
} from '../hub/hub-servers.ts'
import { eventsOf, type HubScenario, type Room } from '../hub/scenario.ts'
import type { Lab } from '../lab.ts'
import type { HubPlan } from '../options.ts'
import type { Row } from '../report.ts'
import { figure, median, sum } from '../stats.ts'
import { type HubTools, withHubGenerator } from './hub-tools.ts'

/** Limit of the ratio to Socket.IO: of one room on one process, and of everything else. */
const LEAST_ONE_ROOM_RATIO = 3
const LEAST_RATIO = 0.95
const SETTLE_MS = 1_000
/** Share of a run's deliveries before the first that counts. */
const WARM_UP_SHARE = 0.5

type Shape = HubPlan['fanOut'][number] & { nodes: number }

interface Run {
  readonly report: DeliveryReport
  readonly cpuUs: number
  readonly generatorCpu: number
}

interface Measured {
  readonly name: string
  readonly runs: readonly Run[]
}

/** Measures events to all observers, as fast as possible. */
export async function fanOutRows(
  lab: Lab,
  plan: HubPlan,
  scenario: HubScenario,
  redisUrl: string,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const room of plan.fanOut) {
    for (const nodes of plan.processes) {
      const shape = { ...room, nodes }
      const servers = [
        ...(nodes === plan.processes[0] ? [() => startWsBroadcast(lab)] : []),
        () => startSocketIoNodes(lab, redisUrl, nodes),
        ...(nodes === 1 ? [() => startSocketIoNodes(lab, redisUrl, nodes, { engine: 'uws' as const })] : []),
        () => startWheelhouseHubs(lab, redisUrl, nodes),
        () => startSocketIoNodes(lab, redisUrl, nodes, { again: true }),
      ]
      const measured: Measured[] = []
      for (const start of servers) measured.push(await fannedOutBy(lab, plan, scenario, shape, await start()))
      rows.push(...measured.map((item) => measuredRow(shape, item)), ...judgedRow(shape, measured))
    }
  }
  return rows
}

async function fannedOutBy(
  lab: Lab,
  plan: HubPlan,
  scenario: HubScenario,
  shape: Shape,
  server: HubServer,
): Promise<Measured> {
  const rooms = scenario.rooms.slice(0, shape.rooms)
  try {
    return await withHubGenerator(lab, async (tools) => {
      const subscriptions = rooms.flatMap((room) =>
        Array.from({ length: shape.observers }, (_, index) => server.subscription(room, index)),
      )
      await tools.generator('sit', subscriptions)
      const perNumber = shape.rooms * shape.observers
      const numbers = Math.ceil(plan.deliveries / perNumber)
      const warmUp = Math.ceil(numbers * WARM_UP_SHARE)
      await deliveryRow(server, tools, rooms, { from: 1, to: warmUp, perNumber })
      const runs: Run[] = []
      for (let run = 0; run < plan.runs; run++) {
        const from = warmUp + 1 + run * numbers
        runs.push(await deliveryRow(server, tools, rooms, { from, to: from + numbers - 1, perNumber }))
      }
      return { name: server.name, runs }
    })
  } finally {
    await server.stop()
  }
}

/** Publishes these numbers to every room, and waits until all have arrived. */
async function deliveryRow(
  server: HubServer,
  { generator, probe }: HubTools,
  rooms: readonly Room[],
  { from, to, perNumber }: { from: number; to: number; perNumber: number },
): Promise<Run> {
  const publish = await server.prepare(eventsOf(rooms, from, to))
  await delay(SETTLE_MS)
  const usages = () => Promise.all(server.nodes.map((node) => node.probe('usage')))
  await generator('mark')
  const [before, generatorBefore] = [await usages(), await probe('usage')]
  const [report] = await Promise.all([generator('arrival', (to - from + 1) * perNumber, to), publish()])
  const [after, generatorAfter] = [await usages(), await probe('usage')]
  const cpu = (of: readonly { cpuUs: number }[]) => sum(of.map(({ cpuUs }) => cpuUs))
  return {
    report,
    cpuUs: cpu(after) - cpu(before),
    generatorCpu: (generatorAfter.cpuUs - generatorBefore.cpuUs) / (report.tookMs * 1_000),
  }
}

const perSecond = ({ report }: Run) => (report.delivered / report.tookMs) * 1_000
const cpuEach = ({ report, cpuUs }: Run) => cpuUs / report.delivered
const named = ({ rooms, observers, nodes }: Shape) =>
  `${figure(rooms)} ${rooms === 1 ? 'room' : 'rooms'} × ${figure(observers)}, ${nodes} ${nodes === 1 ? 'process' : 'processes'}`

function measuredRow(shape: Shape, { name, runs }: Measured): Row {
  const lost = sum(runs.map(({ report }) => report.lost))
  const strange = sum(runs.map(({ report }) => report.strange))
  const generator = Math.max(...runs.map(({ generatorCpu }) => generatorCpu))
  const complete = lost === 0 && strange === 0
  return {
    what: `fan-out, ${named({ ...shape, ...(name === hubNames.ws && { nodes: 1 }) })}: ${name}`,
    measured: [
      `${figure(median(runs.map(perSecond)))} deliveries/s`,
      `${figure(median(runs.map(cpuEach)))} µs CPU each`,
      `generator ${figure(generator * 100)} % of a core`,
      `${figure(lost)} lost, ${figure(strange)} duplicated or out of order`,
    ].join('; '),
    ...(name === hubNames.wheelhouse && { goal: 'none lost, none duplicated', met: complete }),
  }
}

function judgedRow(shape: Shape, measured: readonly Measured[]): Row[] {
  const runsOf = (...names: string[]) =>
    measured.filter(({ name }) => names.includes(name)).flatMap(({ runs }) => runs)
  const bare = runsOf(hubNames.socketIo, hubNames.socketIoAgain)
  const ours = runsOf(hubNames.wheelhouse)
  const onUws = runsOf(hubNames.socketIoOnUws)
  const compared = (runs: readonly Run[]) => {
    const ratio = median(runs.map(perSecond)) / median(bare.map(perSecond))
    const cpuRatio = median(runs.map(cpuEach)) / median(bare.map(cpuEach))
    return { ratio, measured: `${figure(ratio)}; CPU of a delivery × ${figure(cpuRatio)}` }
  }
  const { ratio, measured: measuredRatio } = compared(ours)
  const least = shape.rooms === 1 && shape.nodes === 1 ? LEAST_ONE_ROOM_RATIO : LEAST_RATIO
  return [
    {
      what: `— Wheelhouse / Socket.IO, ${named(shape)}`,
      measured: measuredRatio,
      goal: `≥ ${least}`,
      met: ratio >= least,
    },
    // Compared for the decision on the engine of the hub; Wheelhouse does not use it.
    ...(onUws.length === 0
      ? []
      : [
          {
            what: `— ${hubNames.socketIoOnUws} / Socket.IO, ${named(shape)}`,
            measured: compared(onUws).measured,
          },
        ]),
  ]
}
