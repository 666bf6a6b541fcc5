import { callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Row, Section } from '../report.ts'
import type { LoadGenerator } from '../rest/load.ts'
import { type BenchTeam, seedTeam } from '../rest/team-fixtures.ts'
import { figure, median } from '../stats.ts'
import { startApi } from '../targets.ts'
import { organizationCost } from './organization-cost.ts'
import { assertValid } from './rest-rates.ts'

const SMALL = { members: 1, robots: 100 }
const FLAT_WITHIN = 1.2
const WARM_UP_MS = 500
const ROUND_MS = 250

interface List {
  readonly what: string
  readonly path: (team: BenchTeam) => string
  readonly as?: 'grouped'
}

const ofTeam = (part: string) => (team: BenchTeam) => `/api/organizations/${team.id}/${part}`

/** The lists of an organization. Half of the robots are in groups, which a member is limited to. */
const lists: readonly List[] = [
  { what: 'robots', path: () => '/api/client/robots' },
  { what: 'robots of the groups of a member', path: () => '/api/client/robots', as: 'grouped' },
  { what: 'sessions', path: () => '/api/sessions' },
  { what: 'sessions of the groups of a member', path: () => '/api/sessions', as: 'grouped' },
  { what: 'recordings', path: () => '/api/recordings' },
  { what: 'recordings of the groups of a member', path: () => '/api/recordings', as: 'grouped' },
  { what: 'live robots', path: () => '/api/client/live-robots' },
  // Pages of the same length: the small team has no more members.
  { what: 'members, two of them', path: ofTeam('members?limit=2') },
  { what: 'groups', path: ofTeam('groups') },
  { what: 'service accounts', path: ofTeam('service-accounts') },
  { what: 'audit', path: ofTeam('audit') },
]

/** Compares the first page of each list of a small team with that of a large one. */
export async function measureOrganizations(lab: Lab, plan: Plan): Promise<Section> {
  if (!lab.redisUrl)
    return {
      title: 'Organizations',
      rows: [],
      notes: ['Not measured: a separate api process needs redis-server.'],
    }
  if (plan.before !== undefined) return await organizationCost(lab, plan, plan.before)
  const teams = { small: await seedTeam(lab.db, SMALL), large: await seedTeam(lab.db, plan.largeTeam) }
  await lab.db.query('vacuum analyze')
  await lab.db.query('checkpoint')
  const child = lab.children.run('lab/bench/rest/load.ts')
  await readyPort(child.process)
  const load = callerOf<LoadGenerator>(child.process)
  const api = await startApi(lab, lab.redisUrl)
  try {
    const p50Ms = async (list: List, size: 'small' | 'large', forMs: number) => {
      const team = teams[size]
      const { apiKey } = team[list.as ?? 'owner']
      const requests = [{ method: 'GET' as const, path: list.path(team), apiKey }]
      const report = await load(
        'repeat',
        { port: api.port, connections: 1, expectedStatus: 200, requests },
        forMs,
      )
      assertValid(report)
      return report.p50Ms
    }
    const rows: Row[] = []
    for (const list of lists) {
      const measured = { small: [] as number[], large: [] as number[] }
      for (const size of ['small', 'large'] as const) await p50Ms(list, size, WARM_UP_MS)
      for (let round = 0; round < plan.teamRounds; round++)
        for (const size of ['small', 'large'] as const) measured[size].push(await p50Ms(list, size, ROUND_MS))
      rows.push(flatness(list.what, measured))
    }
    const { members, robots } = plan.largeTeam
    return {
      title: `Lists of an organization, ${SMALL.members} member and ${SMALL.robots} robots → ${figure(members)} and ${robots.toLocaleString('en-GB')}`,
      rows,
      notes: [
        'First pages, one request at a time; medians of the p50, and of its ratio, of rounds in which the two teams take turns. Each robot has a ' +
          'finished session, a recording, a dataset and an entry of the audit log.',
      ],
    }
  } finally {
    await child.stop()
    await api.stop()
  }
}

/** Neighbouring rounds meet the same disturbances, so their ratios vary less than the times. */
function flatness(what: string, { small, large }: Record<'small' | 'large', readonly number[]>): Row {
  const ratio = median(small.map((ms, round) => (large[round] as number) / ms))
  return {
    what,
    measured: `${figure(median(small))} → ${figure(median(large))} ms; ratio of a round: ${figure(ratio)}`,
    goal: `≤ ${FLAT_WITHIN}`,
    met: ratio <= FLAT_WITHIN,
  }
}
