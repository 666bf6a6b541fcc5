import type { Call } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { HttpRequest } from '../rest/connection.ts'
import { type RestWorld, resetStarts } from '../rest/fixtures.ts'
import type { LoadGenerator, LoadReport } from '../rest/load.ts'
import type { RestTarget } from '../targets.ts'

export const servers = ['raw', 'raw prepared', 'wheelhouse', 'unit of work'] as const
export type RestServer = (typeof servers)[number]
export const subjects = ['list', 'robots', 'start', 'chat'] as const
export type Subject = (typeof subjects)[number]

/** Requests per second of every round. */
export type Rates = Record<Subject, Record<RestServer, number[]>>

const CONNECTIONS = 32
const CHATTING_SESSIONS = 200
const WARM_UP_MS = 1_000

interface Parts {
  readonly lab: Lab
  readonly plan: Plan
  readonly world: RestWorld
  readonly load: Call<LoadGenerator>
  readonly targets: Record<RestServer, RestTarget>
}

/** Measures every contender with every subject, in rounds, so that a drift affects all contenders. */
export async function rates(parts: Parts): Promise<Rates> {
  const none = () => ({ raw: [], 'raw prepared': [], wheelhouse: [], 'unit of work': [] })
  const measured: Rates = { list: none(), robots: none(), start: none(), chat: none() }
  await sameAnswers(parts)
  for (const server of servers) await reading(parts, server, '/api/sessions', WARM_UP_MS)
  for (let round = 0; round < parts.plan.restRounds; round++) {
    for (const server of servers) {
      const forMs = parts.plan.restSeconds * 1_000
      await resetStarts(parts.lab.db, parts.world) // so that no reads coincide with the clean-up
      measured.list[server].push(await reading(parts, server, '/api/sessions', forMs))
      measured.robots[server].push(await reading(parts, server, '/api/client/robots', forMs))
      const { start, chat } = await starting(parts, server)
      measured.start[server].push(start)
      measured.chat[server].push(chat)
    }
  }
  return measured
}

const perSecond = (report: LoadReport) => report.answered / (report.tookMs / 1_000)

async function reading(parts: Parts, server: RestServer, path: string, forMs: number): Promise<number> {
  const { load, targets, world } = parts
  const requests: HttpRequest[] = [{ method: 'GET', path, apiKey: world.owner.apiKey }]
  const work = { port: targets[server].port, connections: CONNECTIONS, expectedStatus: 200, requests }
  const report = await load('repeat', work, forMs)
  assertValid(report)
  return perSecond(report)
}

/** Starts a session for every operator; then some of them chat. */
async function starting(parts: Parts, server: RestServer): Promise<{ start: number; chat: number }> {
  const { load, targets, world, plan } = parts
  const to = { port: targets[server].port, connections: CONNECTIONS, expectedStatus: 201 }
  const starts = world.pairs.map(({ operator, robotId }): HttpRequest => {
    return { method: 'POST', path: '/api/sessions', apiKey: operator.apiKey, body: { robotId } }
  })
  const started = await load('once', { ...to, requests: starts })
  assertValid(started)
  const messages = await chatRequests(parts)
  const chatted = await load('repeat', { ...to, requests: messages }, plan.restSeconds * 1_000)
  assertValid(chatted)
  return { start: perSecond(started), chat: perSecond(chatted) }
}

async function chatRequests({ lab, world }: Parts): Promise<HttpRequest[]> {
  const chatting = world.pairs.slice(0, CHATTING_SESSIONS)
  const { rows } = await lab.db.query<{ id: string; operator_id: string }>(
    `select id, operator_id from sessions where operator_id = any($1::uuid[]) and status = 'ACTIVE'`,
    [chatting.map(({ operator }) => operator.id)],
  )
  const sessionOf = new Map(rows.map((row) => [row.operator_id, row.id]))
  return chatting.map(({ operator }) => ({
    method: 'POST',
    path: `/api/sessions/${sessionOf.get(operator.id)}/messages`,
    apiKey: operator.apiKey,
    body: { body: 'The gripper holds the cup; moving on to the shelf.' },
  }))
}

/** Compares answers: a peer that answers differently is not comparable. */
async function sameAnswers({ load, targets, world }: Parts): Promise<void> {
  for (const path of ['/api/sessions', '/api/client/robots']) {
    const request: HttpRequest = { method: 'GET', path, apiKey: world.owner.apiKey }
    const texts = await Promise.all(
      servers.map(async (server) => {
        const { status, text } = await load('ask', targets[server].port, request)
        return `${status} ${text.replaceAll(/ws:\/\/localhost:\d+/g, '')}`
      }),
    )
    if (texts.some((text) => text !== texts[0])) {
      throw new Error(`The answers to ${path} differ:\n${texts.map((text) => text.slice(0, 900)).join('\n')}`)
    }
  }
}

/** Rejects a run with wrong answers: a server that refuses requests is fast. */
export function assertValid(report: LoadReport): void {
  if (report.wrong > 0) throw new Error(`${report.wrong} wrong answers, the first: ${report.firstWrong}`)
}
