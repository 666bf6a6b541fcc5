import { setTimeout as delay } from 'node:timers/promises'
import { databaseUse } from '../hub/database-use.ts'
import { type HubServer, startSocketIoNodes, startWheelhouseHubs } from '../hub/hub-servers.ts'
import type { ReconnectMode, ReturnReport } from '../hub/reconnect-load.ts'
import { type HubScenario, LOG_ENTRIES } from '../hub/scenario.ts'
import type { Lab } from '../lab.ts'
import type { HubPlan } from '../options.ts'
import type { Row } from '../report.ts'
import { figure, percentile, sum } from '../stats.ts'
import type { RestTarget } from '../targets.ts'
import { type HubTools, withHubGenerator } from './hub-tools.ts'

/** Limit of the time until all are complete, as a multiple of that of bare Socket.IO in the same run. */
const MOST_RATIO = 1.5
/** Number of clients in the goal. */
const JUDGED_CLIENTS = 5_000
/** Limit of the queries for each client. */
const MOST_QUERIES = 1
const LIMIT_MS = 60_000
const POLL_INTERVAL_MS = 20
const SETTLE_MS = 2_000
const HANDSHAKES_AT_A_TIME = 32
/** Entries of the log that were written while a client was disconnected. */
const BEHIND = 5
interface Storm {
  readonly report: ReturnReport
  readonly statements: number
  readonly hubCpuUs: number
  readonly generatorCpu: number
  readonly pauseMs: number
}

type Cut = 'the hub is killed' | 'every connection is cut'

/** Disconnects all clients at the same time; they reconnect and read the missed entries. */
export async function stormRows(
  lab: Lab,
  plan: HubPlan,
  scenario: HubScenario,
  redisUrl: string,
): Promise<Row[]> {
  const parts = { lab, plan, scenario }
  const bare = await startSocketIoNodes(lab, redisUrl, 2)
  for (const peer of bare.peers) await peer('createLogs', LOG_ENTRIES)
  const bareStorm = await stormOf(parts, bare, 'the hub is killed', 'at once')
  const bareMs = Math.max(...bareStorm.report.completeMs)
  const rows = [
    row(plan, 'Socket.IO, no users, no database: the hub is killed, all reconnect at once', {
      storm: bareStorm,
    }),
  ]
  const faultRuns: { cut: Cut; mode: ReconnectMode }[] = [
    { cut: 'the hub is killed', mode: 'at once' },
    { cut: 'every connection is cut', mode: 'at once' },
    { cut: 'the hub is killed', mode: 'as the sdk' },
  ]
  for (const { cut, mode } of faultRuns) {
    const hubs = await startWheelhouseHubs(lab, redisUrl, 2)
    const storm = await stormOf(parts, hubs, cut, mode)
    const how = mode === 'at once' ? 'all reconnect at once' : 'reconnect with the sdk’s jitter'
    rows.push(
      row(plan, `Wheelhouse: ${cut}, ${how}`, {
        storm,
        // The jitter of the sdk adds a wait that bare Socket.IO does not have here.
        ...(mode === 'at once' && { mostMs: MOST_RATIO * bareMs }),
        judged: true,
      }),
    )
  }
  return rows
}

async function stormOf(
  { lab, plan, scenario }: { lab: Lab; plan: HubPlan; scenario: HubScenario },
  server: HubServer,
  cut: Cut,
  mode: ReconnectMode,
): Promise<Storm> {
  const [first, second] = server.nodes as readonly [RestTarget, RestTarget]
  const address = ({ port }: RestTarget) => ({ port, speaks: 'Socket.IO' as const })
  const members = scenario.rooms
    .slice(0, plan.returning)
    .map(({ owner, sessionId }) => ({ token: owner.apiKey, sessionId }))
  try {
    return await withHubGenerator(lab, async ({ generator, probe }: HubTools) => {
      await generator('connectAll', members, [address(first)], HANDSHAKES_AT_A_TIME)
      // Worst case: every key was last used so long ago that its use is recorded again.
      await lab.db.query(`update api_keys set last_used_at = now() - interval '1 hour' where name = 'bench'`)
      await lab.db.query('vacuum api_keys')
      await delay(SETTLE_MS)
      const { transactions: statementsBefore } = await databaseUse(lab)
      const there = cut === 'the hub is killed' ? second : first
      const [hubBefore, generatorBefore] = [await there.probe('usage'), await probe('usage')]
      await generator('prepare', { addresses: [address(there)], mode, behind: BEHIND })
      await generator('watchPauses')
      if (cut === 'the hub is killed') await first.child.kill()
      else await generator('cutAll')
      await untilReturned(generator, members.length)
      const [hubAfter, generatorAfter] = [await there.probe('usage'), await probe('usage')]
      const { maxMs } = await generator('pauses')
      const report = await generator('returnReport')
      await generator('leave')
      return {
        report,
        statements: (await databaseUse(lab)).transactions - statementsBefore,
        hubCpuUs: hubAfter.cpuUs - hubBefore.cpuUs,
        generatorCpu:
          (generatorAfter.cpuUs - generatorBefore.cpuUs) /
          ((generatorAfter.atMs - generatorBefore.atMs) * 1_000),
        pauseMs: maxMs,
      }
    })
  } finally {
    await server.stop()
  }
}

async function untilReturned(generator: HubTools['generator'], count: number): Promise<void> {
  const untilMs = performance.now() + LIMIT_MS
  while ((await generator('returned')) < count) {
    if (performance.now() > untilMs) return
    await delay(POLL_INTERVAL_MS)
  }
}

function row(
  plan: HubPlan,
  what: string,
  { storm, mostMs, judged = false }: { storm: Storm; mostMs?: number; judged?: boolean },
): Row {
  const { report, statements, hubCpuUs, generatorCpu, pauseMs } = storm
  const { connectedMs, completeMs, refusals, wrong } = report
  const refused = sum(Object.values(refusals))
  const refusalTexts = Object.entries(refusals)
    .slice(0, 3)
    .map(([why, count]) => `${why}: ${figure(count)}`)
  const shares = (ms: readonly number[]) =>
    [percentile(ms, 0.5), percentile(ms, 0.99), Math.max(...ms)]
      .map((item) => figure(item / 1_000))
      .join(' / ')
  const queries = statements / completeMs.length
  const limitMs = plan.returning >= JUDGED_CLIENTS ? mostMs : undefined
  const isComplete = completeMs.length === plan.returning && wrong === 0
  const isInTime = limitMs === undefined || Math.max(...completeMs) <= limitMs
  return {
    what: `${figure(plan.returning)} clients reconnect. ${what}: complete after p50 / p99 / max`,
    measured: [
      `${shares(completeMs)} s (connected ${shares(connectedMs)} s)`,
      `${figure(queries)} queries each`,
      `${figure(hubCpuUs / completeMs.length)} µs CPU each, generator ${figure(generatorCpu * 100)} % of a core, paused ${figure(pauseMs)} ms at most`,
      refused === 0 ? 'none refused' : `${figure(refused)} failed attempts (${refusalTexts.join(', ')})`,
      `${figure(plan.returning - completeMs.length)} missing, ${figure(wrong)} wrong`,
    ].join('; '),
    ...(judged && {
      goal: [
        ...(limitMs === undefined
          ? []
          : [`all within ${MOST_RATIO} × Socket.IO (${figure(limitMs / 1_000)} s)`]),
        `at most ${MOST_QUERIES} query each`,
        'nothing missing',
      ].join(', '),
      met: isComplete && isInTime && queries <= MOST_QUERIES,
    }),
  }
}
