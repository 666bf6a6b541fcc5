import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { createSecrets } from '../../../src/core/secrets.ts'
import { createRobotTokens } from '../../../src/modules/robots/robot-token.ts'
import { createTickets, type TicketPart } from '../../../src/modules/sessions/tickets/ticket.ts'
import type { Child } from '../../../test/support/processes/children.ts'
import type { Call } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import { type ApiUser, forgetSessionsOf, robotsOf, users } from '../rest/fixtures.ts'
import { resetPresence } from '../seed.ts'
import { gatewayShape, startWheelhouse } from '../targets.ts'
import type { RelayAddress } from './endpoint-socket.ts'
import type { RelayGenerator } from './generator.ts'
import { probedUsage, type Relay, relayNames } from './relays.ts'
import type { End } from './wires/wire.ts'

const REQUESTS_AT_A_TIME = 16
const READY_LIMIT_MS = 15_000
const POLL_INTERVAL_MS = 50

/** A robot with its operator and its owner. */
interface SoakActors {
  readonly robotId: string
  readonly operator: ApiUser
  readonly owner: ApiUser
  sessionId?: string
}

/** Wheelhouse as a relay, with functions that only it has. */
export interface WheelhouseRelay extends Relay {
  readonly child: Child
  /** Connects the owners of these pairs as observers. */
  watch(generator: Call<RelayGenerator>, from: number, to: number): Promise<void>
  /** Changes what is recorded of all robots, over REST. */
  setRecording(mode: 'off' | 'control'): Promise<void>
  /** Ends every session and deletes the robots; after `stop`. */
  cleanUp(): Promise<void>
}

/** Starts Wheelhouse, and robots that wait for their operators. Settings are the defaults, but for real-time scheduling. */
export async function startWheelhouseRelay(
  lab: Lab,
  pairCount: number,
  { realTime = false, program }: { realTime?: boolean; program?: string } = {},
): Promise<WheelhouseRelay> {
  await resetPresence(lab.db, 'away')
  const actorGroups = await seedPairs(lab.db, pairCount)
  const env = { GATEWAY_REALTIME: String(realTime) }
  const server = await startWheelhouse(lab, gatewayShape(lab), { env, ...(program && { program }) })
  const address: RelayAddress = {
    port: server.destination.port,
    speaks: 'WebSocket',
    readyOn: 'first message',
  }
  const secrets = createSecrets(lab.secretKey)
  const tokens = createRobotTokens(secrets)
  const tickets = createTickets({ secrets, now: () => new Date() })
  let beating = false

  const robotEnd = (pair: number): End => {
    const { robotId } = actorGroups[pair] as SoakActors
    const token = tokens.issue({ robotId, tokenVersion: 1 })
    return { pair, side: 'robot', path: `/robots/${robotId}/control`, token }
  }
  const participantEnd = (pair: number, part: TicketPart): End => {
    const { sessionId = '', operator, owner } = actorGroups[pair] as SoakActors
    const [side, userId] =
      part === 'control' ? (['operator', operator.id] as const) : (['observer', owner.id] as const)
    const claims = { sessionId, userId, organizationId: userId, part, permissionsVersion: 0, number: 1 }
    const { ticket } = tickets.issue(claims)
    return { pair, side, path: `/sessions/${sessionId}/${part}`, token: ticket }
  }
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

  return {
    name: realTime ? relayNames.wheelhouseRealTime : relayNames.wheelhouse,
    forms: ['JSON', 'binary'],
    child: server.child,
    async connect(generator, from, to) {
      const pairs = numbers(from, to)
      if (!beating) await generator('beat')
      beating = true
      await generator('open', pairs.map(robotEnd), address)
      await startSessions(server.apiUrl, actorGroups.slice(from, to))
      await generator(
        'open',
        pairs.map((pair) => participantEnd(pair, 'control')),
        address,
      )
      await untilDrivable(generator, to)
    },
    async watch(generator, from, to) {
      const ends = numbers(from, to).map((pair) => participantEnd(pair, 'watch'))
      await generator('open', ends, address)
    },
    setRecording: (mode) => setRecording(server.apiUrl, actorGroups, mode),
    usage: probedUsage(server.child),
    stop: () => server.stop(),
    cleanUp: () =>
      forgetSessionsOf(
        lab.db,
        actorGroups.map(({ robotId }) => robotId),
        'OFFLINE',
      ),
  }
}

async function seedPairs(db: Client, count: number): Promise<SoakActors[]> {
  const owners = await users(db, count, 'client')
  const operators = await users(db, count, 'operator')
  const robotIds = await robotsOf(
    db,
    owners.map(({ id }) => id),
    'OFFLINE',
  )
  await db.query('vacuum analyze')
  return robotIds.map((robotId, index) => {
    return { robotId, operator: operators[index] as ApiUser, owner: owners[index] as ApiUser }
  })
}

/** Starts a session for every operator, over REST. */
function startSessions(apiUrl: string, actorGroups: readonly SoakActors[]): Promise<void> {
  return forEach(actorGroups, async (actors) => {
    const body = { robotId: actors.robotId }
    actors.sessionId = (await request(apiUrl, 'POST', '/api/sessions', actors.operator, body)).sessionId
  })
}

function setRecording(apiUrl: string, actorGroups: readonly SoakActors[], mode: string): Promise<void> {
  return forEach(actorGroups, async ({ robotId, owner }) => {
    await request(apiUrl, 'PATCH', `/api/client/robots/${robotId}`, owner, { recording: mode })
  })
}

async function forEach(
  actorGroups: readonly SoakActors[],
  work: (actors: SoakActors) => Promise<void>,
): Promise<void> {
  const queue = actorGroups.values()
  const channel = async () => {
    for (const actors of queue) await work(actors)
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_A_TIME }, channel))
}

async function request(
  apiUrl: string,
  method: string,
  path: string,
  user: ApiUser,
  body: object,
): Promise<{ sessionId: string }> {
  const url = new URL(path, apiUrl)
  url.hostname = '127.0.0.1' // where the server listens
  const headers = { authorization: `Bearer ${user.apiKey}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status} ${text}`)
  return JSON.parse(text)
}

/** Waits until the gateway has received the new sessions. */
async function untilDrivable(generator: Call<RelayGenerator>, count: number): Promise<void> {
  const untilMs = performance.now() + READY_LIMIT_MS
  for (;;) {
    const drivable = await generator('drivable')
    if (drivable >= count) return
    if (performance.now() > untilMs) throw new Error(`Only ${drivable} of ${count} operators may drive.`)
    await delay(POLL_INTERVAL_MS)
  }
}
