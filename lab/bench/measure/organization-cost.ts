import { join } from 'node:path'
import type { Client } from 'pg'
import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Section } from '../report.ts'
import type { HttpRequest } from '../rest/connection.ts'
import { type RestWorld, seedRest } from '../rest/fixtures.ts'
import type { LoadGenerator, LoadReport } from '../rest/load.ts'
import { figure, median, percentile } from '../stats.ts'
import { type RestTarget, startApi } from '../targets.ts'
import { folderOf, ownDatabase } from '../versions.ts'
import { assertValid } from './rest-rates.ts'

const MOST_COST = 1.05
const SESSIONS_OF_LIST = 1_000
const WARM_UP_MS = 2_000
const READING_MS = 1_000

/** A version of Wheelhouse with a database of its own in the same server. */
interface Version {
  readonly db: Client
  readonly api: RestTarget
  readonly world: RestWorld
}

const subjects = ['GET /api/sessions', 'GET /api/client/robots', 'POST /api/sessions', 'PATCH end'] as const
type Subject = (typeof subjects)[number]
type Times = Record<Subject, number>

/**
 * Compares this version with a checkout of one from before organizations: the same requests, one at a time, in rounds in which the
 * two take turns.
 */
export async function organizationCost(lab: Lab, plan: Plan, checkout: string): Promise<Section> {
  const child = lab.children.run('lab/bench/rest/load.ts')
  await readyPort(child.process)
  const load = callerOf<LoadGenerator>(child.process)
  const versions = [
    await openVersion(lab, plan, 'before', folderOf(checkout)),
    await openVersion(lab, plan, 'now', '.'),
  ] as const
  try {
    for (const version of versions) await reading(load, version, '/api/sessions', WARM_UP_MS)
    const rounds: [Times, Times][] = []
    for (let round = 0; round < plan.costRounds; round++) {
      // Whoever is second meets the caches of the first.
      const order = round % 2 === 0 ? [0, 1] : [1, 0]
      const times: Times[] = []
      for (const index of order) times[index] = await timesOf(load, plan, versions[index] as Version, round)
      rounds.push(times as [Times, Times])
    }
    const rows = subjects.map((subject) => {
      const [before, now] = [0, 1].map((index) => median(rounds.map((times) => times[index]?.[subject] ?? 0)))
      const ratios = rounds.map(([earlier, later]) => later[subject] / earlier[subject])
      const ratio = median(ratios)
      return {
        what: `${subject}, p50 before organizations → now`,
        measured: `${figure(before ?? 0)} → ${figure(now ?? 0)} ms; ratio of a round: ${figure(ratio)} (${figure(percentile(ratios, 0.25))}–${figure(percentile(ratios, 0.75))})`,
        goal: `≤ ${MOST_COST}`,
        met: ratio <= MOST_COST,
      }
    })
    return {
      title: 'Requests before organizations and now',
      rows,
      notes: [
        `One request at a time; ${plan.costRounds} rounds in which the versions take turns, each with its own api process and database. ` +
          'The ratio is the median of the rounds, with its quartiles.',
      ],
    }
  } finally {
    await child.stop()
    for (const { db, api } of versions) {
      await api.stop()
      await db.end()
    }
  }
}

async function openVersion(lab: Lab, plan: Plan, name: string, folder: string): Promise<Version> {
  const { db, databaseUrl } = await ownDatabase(lab, name, folder)
  // The column that the fixtures fill. The earlier version does not know it.
  await db.query('alter table api_keys add column if not exists organization_id uuid')
  const world = await seedRest(db, { pairs: plan.costStarts * plan.costRounds, sessions: SESSIONS_OF_LIST })
  const api = await startApi({ ...lab, databaseUrl }, lab.redisUrl as string, join(folder, 'src/main.ts'))
  return { db, api, world }
}

async function timesOf(
  load: Call<LoadGenerator>,
  plan: Plan,
  version: Version,
  round: number,
): Promise<Times> {
  const { db, world, api } = version
  // Sessions that were charged cannot be removed, so each round has its own operators and robots.
  const pairs = world.pairs.slice(round * plan.costStarts, (round + 1) * plan.costStarts)
  const sessions = await reading(load, version, '/api/sessions', READING_MS)
  const robots = await reading(load, version, '/api/client/robots', READING_MS)
  const starts = pairs.map(({ operator, robotId }): HttpRequest => {
    return { method: 'POST', path: '/api/sessions', apiKey: operator.apiKey, body: { robotId } }
  })
  const to = { port: api.port, connections: 1 }
  const started = checked(await load('once', { ...to, expectedStatus: 201, requests: starts }))
  const { rows } = await db.query<{ id: string; operator_id: string }>(
    `select id, operator_id from sessions where status = 'ACTIVE'`,
  )
  const sessionOf = new Map(rows.map((row) => [row.operator_id, row.id]))
  const ends = pairs.map(({ operator }): HttpRequest => {
    const path = `/api/sessions/${sessionOf.get(operator.id)}`
    return { method: 'PATCH', path, apiKey: operator.apiKey, body: { action: 'end' } }
  })
  const ended = checked(await load('once', { ...to, expectedStatus: 200, requests: ends }))
  return {
    'GET /api/sessions': sessions,
    'GET /api/client/robots': robots,
    'POST /api/sessions': started,
    'PATCH end': ended,
  }
}

async function reading(load: Call<LoadGenerator>, { api, world }: Version, path: string, forMs: number) {
  const requests = [{ method: 'GET' as const, path, apiKey: world.owner.apiKey }]
  return checked(
    await load('repeat', { port: api.port, connections: 1, expectedStatus: 200, requests }, forMs),
  )
}

function checked(report: LoadReport): number {
  assertValid(report)
  return report.p50Ms
}
