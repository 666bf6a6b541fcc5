import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Row, Section } from '../report.ts'
import {
  type ApiUser,
  finishedSessions,
  forgetSessions,
  type RestWorld,
  resetStarts,
  seedRest,
} from '../rest/fixtures.ts'
import type { LoadGenerator, LoadReport } from '../rest/load.ts'
import { figure, median } from '../stats.ts'
import { type RestTarget, startApi, startRestPeer } from '../targets.ts'
import { exportMemory } from './rest-export.ts'
import { assertValid, type RestServer, rates, type Subject, servers, subjects } from './rest-rates.ts'

const SESSIONS_OF_LIST = 10_000
const LEAST_SHARE_OF_RAW = 0.85
const LEAST_TIMES_UNIT_OF_WORK = 2.5
const MOST_P99_TO_P50 = 3
const FLAT_WITHIN = 1.25
/** A stall of 40 ms decides about the p99 of a round of four seconds. The median of many rounds leaves single stalls out. */
const HALF_LOAD_ROUNDS = 5

/** Compares REST with Koa and the same handwritten statements, and with the ORM's unit of work. */
export async function measureRest(lab: Lab, plan: Plan): Promise<Section> {
  if (!lab.redisUrl) {
    return { title: 'REST', rows: [], notes: ['Not measured: a separate api process needs redis-server.'] }
  }
  const world = await seedRest(lab.db, { pairs: plan.restStarts, sessions: SESSIONS_OF_LIST })
  const child = lab.children.run('lab/bench/rest/load.ts')
  await readyPort(child.process)
  const load = callerOf<LoadGenerator>(child.process)
  const targets: Record<RestServer, RestTarget> = {
    raw: await startRestPeer(lab, 'lab/bench/servers/koa-raw.ts'),
    'raw prepared': await startRestPeer(lab, 'lab/bench/servers/koa-raw.ts', { prepared: true }),
    wheelhouse: await startApi(lab, lab.redisUrl),
    'unit of work': await startRestPeer(lab, 'lab/bench/servers/koa-orm.ts'),
  }
  try {
    const measured = await rates({ lab, plan, world, load, targets })
    const { port } = targets.wheelhouse
    await resetStarts(lab.db, world)
    const listRate = median(measured.list.wheelhouse)
    return {
      title: 'REST, one api process',
      rows: [
        ...subjects.flatMap((subject) => rowsOf(subject, measured[subject])),
        ...(await halfLoad({ lab, plan, world, load, targets, perSecond: listRate / 2 })),
        ...(await flatness({ lab, plan, world, load, port })),
        await exportMemory(lab.db, targets.wheelhouse, world.owner, plan.exportedSessions),
      ],
      notes: notes(plan),
    }
  } finally {
    await child.stop()
    for (const target of Object.values(targets)) await target.stop()
    await resetStarts(lab.db, world)
  }
}

const titles: Record<Subject, string> = {
  list: `GET /api/sessions, 50 rows of ${SESSIONS_OF_LIST.toLocaleString('en-GB')}`,
  robots: 'GET /api/client/robots, 50 robots',
  start: 'POST /api/sessions, a start',
  chat: 'POST /api/sessions/{id}/messages',
}
const names: Record<RestServer, string> = {
  raw: 'Koa, the same SQL handwritten',
  'raw prepared': 'Koa, the same SQL handwritten, prepared',
  wheelhouse: 'Wheelhouse',
  'unit of work': 'Koa, the ORM’s unit of work',
}

function rowsOf(subject: Subject, measured: Record<RestServer, readonly number[]>): Row[] {
  const rate = (server: RestServer) => median(measured[server])
  const toRaw = rate('wheelhouse') / rate('raw')
  const toPrepared = rate('wheelhouse') / rate('raw prepared')
  const toOrm = rate('wheelhouse') / rate('unit of work')
  const judged = subject === 'list' || subject === 'start'
  return [
    ...servers.map((server) => ({
      what: `${titles[subject]}: ${names[server]}`,
      measured: `${figure(rate(server))}/s`,
    })),
    {
      what: '— Wheelhouse / the same SQL handwritten',
      measured: figure(toRaw),
      ...(judged && { goal: `≥ ${LEAST_SHARE_OF_RAW}`, met: toRaw >= LEAST_SHARE_OF_RAW }),
    },
    { what: '— Wheelhouse / the same SQL handwritten, prepared', measured: figure(toPrepared) },
    {
      what: '— Wheelhouse / unit of work',
      measured: figure(toOrm),
      ...(subject === 'start' && {
        goal: `≥ ${LEAST_TIMES_UNIT_OF_WORK}`,
        met: toOrm >= LEAST_TIMES_UNIT_OF_WORK,
      }),
    },
  ]
}

type Load = Call<LoadGenerator>

const listRequest = (owner: ApiUser) => ({
  method: 'GET' as const,
  path: '/api/sessions',
  apiKey: owner.apiKey,
})

/**
 * Measures the list at half of the server's maximum rate: the ratio of its slowest answers to its usual ones. The peer at the
 * same rate shows the influence of the machine.
 */
async function halfLoad(parts: {
  lab: Lab
  plan: Plan
  world: RestWorld
  load: Load
  targets: Record<RestServer, RestTarget>
  perSecond: number
}): Promise<Row[]> {
  const { lab, plan, world, load, targets, perSecond } = parts
  await lab.db.query('checkpoint') // so that the list does not wait for writes of the starts
  const reports = { raw: [] as LoadReport[], wheelhouse: [] as LoadReport[] }
  for (let round = 0; round < HALF_LOAD_ROUNDS * plan.restRounds; round++) {
    for (const server of ['raw', 'wheelhouse'] as const) {
      const requests = [listRequest(world.owner)]
      const work = { port: targets[server].port, connections: 32, expectedStatus: 200, requests }
      const report = await load('atRate', work, perSecond, plan.restSeconds * 1_000)
      assertValid(report)
      reports[server].push(report)
    }
  }
  const row = (server: 'raw' | 'wheelhouse', goal?: number): Row => {
    const p99Ms = median(reports[server].map((report) => report.p99Ms))
    const p50Ms = median(reports[server].map((report) => report.p50Ms))
    const ratio = p99Ms / p50Ms
    return {
      what: `list at half load, p99 / p50: ${names[server]}`,
      measured: `${figure(p99Ms)} / ${figure(p50Ms)} ms = ${figure(ratio)}`,
      ...(goal !== undefined && { goal: `≤ ${goal}`, met: ratio <= goal }),
    }
  }
  return [row('raw'), row('wheelhouse', MOST_P99_TO_P50)]
}

/** Compares the first page of a client with a thousand sessions and with a million. */
async function flatness(parts: {
  lab: Lab
  plan: Plan
  world: RestWorld
  load: Load
  port: number
}): Promise<Row[]> {
  const { lab, plan, world, load, port } = parts
  const { rows } = await lab.db.query<{ robot_id: string; operator_id: string }>(
    'select distinct robot_id, operator_id from sessions where client_id = $1 limit 200',
    [world.owner.id],
  )
  const operators = [...new Set(rows.map((row) => row.operator_id))].map((id) => ({ id }))
  const robots = [...new Set(rows.map((row) => row.robot_id))]
  const only = async (count: number) => {
    await forgetSessions(lab.db, world.owner)
    await finishedSessions(lab.db, world.owner, { operators, robots, count })
    await lab.db.query('vacuum analyze sessions')
    await lab.db.query('checkpoint')
    const work = { port, connections: 1, expectedStatus: 200, requests: [listRequest(world.owner)] }
    await load('repeat', work, 500)
    const report = await load('repeat', work, plan.restSeconds * 1_000)
    assertValid(report)
    return report.p50Ms
  }
  const fewMs = await only(1_000)
  const manyMs = await only(plan.manySessions)
  const ratio = manyMs / fewMs
  return [
    { what: 'list, one request at a time, 1,000 sessions: p50', measured: `${figure(fewMs)} ms` },
    { what: `— ${figure(plan.manySessions)} sessions: p50`, measured: `${figure(manyMs)} ms` },
    { what: '— ratio', measured: figure(ratio), goal: `≤ ${FLAT_WITHIN}`, met: ratio <= FLAT_WITHIN },
  ]
}

function notes(plan: Plan): string[] {
  return [
    `32 connections send requests as fast as they are answered; median of ${plan.restRounds} rounds in which the contenders take turns, ` +
      `${plan.restSeconds} s each (starts: ${figure(plan.restStarts)} at a time, each with another operator, robot and owner; ` +
      'messages: into 200 open sessions). All three read the API keys from the database.',
    'Handwritten: Koa, its router and body parser, and in each request the same statements in the same order as Wheelhouse, without ' +
      'validation, authorization rules and error bodies. Unit of work: an entity manager per request, find, change, flush.',
    'Wheelhouse prepares the statements of its hot requests, once per connection; “handwritten” sends texts, which is ' +
      'the driver’s default, and “handwritten, prepared” prepares them all.',
    'At half load the time of a late request counts from its due time; the peer gets the same rate. Median of ' +
      `${HALF_LOAD_ROUNDS * plan.restRounds} alternating rounds.`,
  ]
}
