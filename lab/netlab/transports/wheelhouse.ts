import { OperatorLink, type OperatorLinkOptions, RobotLink, ticketsOf } from '@wheelhouse/sdk'
import type { ApiUser } from '../../bench/rest/fixtures.ts'
import {
  type Command,
  type EndAddress,
  type OpenedPairs,
  type OperatorEnd,
  type OperatorEvents,
  type RobotEnd,
  type RobotEvents,
  type Served,
  type Site,
  type Transport,
  TTL_MS,
} from './transport.ts'

const RESUME_EVERY_MS = 1_000
const READY_LIMIT_MS = 180_000

/** The option of both links for their transports. */
type Channels = Pick<OperatorLinkOptions, 'PeerConnection'>

/** @param port the first of three; each namespace is the lab's own, so all ports are free */
const wheelhouse = (name: string, role: Transport['role'], port: number, channels: Channels): Transport => ({
  name,
  role,
  silenceHaltMs: null,
  serve: (site) => servePlatform(site, port),
  connectOperator: (address, events) => connectOperator(address, events, channels),
  connectRobot: (address, robot) => connectRobot(address, robot, channels),
})

/** Wheelhouse with its defaults: `src/main.ts`, and both links of its SDK, which open data channels. */
export const wheelhouseTransport = wheelhouse('Wheelhouse', 'default', 3000, {})
/** Wheelhouse where links have no data channel, as in networks that block UDP. */
export const webSocketWheelhouse = wheelhouse('Wheelhouse over WebSockets', 'fallback', 3010, {
  PeerConnection: null,
})

async function servePlatform({ lab, host }: Site, port: number): Promise<Served> {
  // The processes of the ends import this file too, and do not need these modules.
  const { gatewayShape, startWheelhouse } = await import('../../bench/targets.ts')
  const baseUrl = `http://${host}:${port}`
  const gatewayUrl = `ws://${host}:${port + 2}`
  const server = await startWheelhouse(lab, gatewayShape(lab), {
    env: {
      PORT: String(port),
      HOST: host,
      BASE_URL: baseUrl,
      GATEWAY_URL: gatewayUrl,
      // No other machine can connect to a namespace of the lab.
      ALLOW_INSECURE_DEV: 'true',
      OPERATOR_JOIN_MS: '120000',
    },
  })
  return { open: (pairs) => openPairs({ lab, baseUrl, gatewayUrl }, pairs), stop: () => server.stop() }
}

async function openPairs(
  { lab, baseUrl, gatewayUrl }: { lab: Site['lab']; baseUrl: string; gatewayUrl: string },
  count: number,
): Promise<OpenedPairs> {
  const [{ robotsOf, users }, { createSecrets }, { createRobotTokens }] = await Promise.all([
    import('../../bench/rest/fixtures.ts'),
    import('../../../src/core/secrets.ts'),
    import('../../../src/modules/robots/robot-token.ts'),
  ])
  const owners = await users(lab.db, count, 'client')
  const operators = await users(lab.db, count, 'operator')
  const ownerIds = owners.map(({ id }) => id)
  const robotIds = await robotsOf(lab.db, ownerIds, 'OFFLINE')
  const tokens = createRobotTokens(createSecrets(lab.secretKey))
  const robots = robotIds.map((robotId) => ({
    url: `${gatewayUrl}/robots/${robotId}/control`,
    token: tokens.issue({ robotId, tokenVersion: 1 }),
  }))
  const start = async (robotId: string, index: number): Promise<EndAddress> => {
    const { apiKey } = operators[index] as ApiUser
    const sessionId = await startSession(baseUrl, apiKey, robotId)
    return { url: gatewayUrl, baseUrl, token: apiKey, sessionId }
  }
  return { robots, operators: () => Promise.all(robotIds.map(start)) }
}

async function startSession(baseUrl: string, apiKey: string, robotId: string): Promise<string> {
  const answer = await request('POST', new URL('/api/sessions', baseUrl), apiKey, { robotId })
  const body = (await answer.json()) as { sessionId: string }
  if (answer.status !== 201) throw new Error(`A session was not started: ${JSON.stringify(body)}`)
  return body.sessionId
}

const request = (method: string, url: URL, apiKey: string, body: object) =>
  fetch(url, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(READY_LIMIT_MS),
  })

async function connectOperator(
  { baseUrl = '', token = '', sessionId = '' }: EndAddress,
  events: OperatorEvents,
  channels: Channels,
): Promise<OperatorEnd> {
  let resumedMs = Number.NEGATIVE_INFINITY
  /** Resumes a session that the platform has paused, as an attentive operator would. */
  const resume = () => {
    if (performance.now() - resumedMs < RESUME_EVERY_MS) return
    resumedMs = performance.now()
    events.onRefused('session paused, resumed by the operator')
    const url = new URL(`/api/sessions/${sessionId}`, baseUrl)
    request('PATCH', url, token, { action: 'resume' }).catch(() => {}) // the next dropped command resumes again
  }
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl, token, sessionId, part: 'control' }),
    onDropped: (_seq, why) => {
      events.onRefused(why)
      if (why === 'session_paused') resume()
    },
    onConnection: (state) => state === 'offline' && events.onLost(),
    ...channels,
  })
  await link.connect()
  return {
    send: (command) => link.control(command, { ttlMs: TTL_MS }) !== null,
    close: () => link.close(),
  }
}

async function connectRobot(
  { url, token = '' }: EndAddress,
  robot: RobotEvents,
  channels: Channels,
): Promise<RobotEnd> {
  const link = new RobotLink({
    url,
    token,
    onControl: ({ seq, data }) => {
      robot.execute(data as Command)
      link.ack(seq)
    },
    onStop: ({ reason }) => {
      robot.halt(reason)
      link.stopped(reason)
    },
    ...channels,
  })
  await link.connect()
  return { close: () => link.close() }
}
