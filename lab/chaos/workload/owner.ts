import { HubError, ObserverLink, ticketsOf } from '@wheelhouse/sdk'
import { sendChatMessage } from './chat.ts'
import { type ActorContext, rest } from './context.ts'
import { readExport } from './exports.ts'

const ACTION_INTERVAL_MS = [500, 2_500] as const
const STOP_LIMIT_MS = 15_000

/** Creates an owner who observes: chats, requests extensions, stops, rates, reads exports, until the load ends. */
export async function runOwner(context: ActorContext): Promise<void> {
  const { random, over, view } = context
  while (!over.aborted) {
    await rest(over, random.between(...ACTION_INTERVAL_MS))
    const open = [...view.open]
    const ended = view.over.shift()
    if (ended !== undefined && random.chance(0.6)) await rate(context, ended)
    if (open.length === 0 || over.aborted) continue
    const sessionId = random.pick(open)
    await random.pick([
      sendChatMessage,
      sendChatMessage,
      sendChatMessage,
      sendChatMessage,
      extend,
      extend,
      stop,
      pause,
      readSession,
    ])(context, sessionId)
  }
}

async function rate({ rest: api, random, evidence }: ActorContext, sessionId: string): Promise<void> {
  const rating = 1 + random.below(5)
  const reply = await api.post('rate', `/api/sessions/${sessionId}/rate`, { rating })
  if (reply.outcome === 'acknowledged' || reply.outcome === 'kept')
    evidence.ratings.push({ sessionId, rating })
}

async function extend({ rest: api, random }: ActorContext, sessionId: string): Promise<void> {
  await api.post('extend', `/api/sessions/${sessionId}/extend`, { additionalMinutes: 1 + random.below(30) })
}

async function pause({ rest: api, expectInterruption }: ActorContext, sessionId: string): Promise<void> {
  expectInterruption(sessionId)
  await api.ask('pause', 'PATCH', `/api/sessions/${sessionId}`, { action: 'pause' })
}

async function readSession(context: ActorContext, sessionId: string): Promise<void> {
  if (context.random.chance(0.3)) return await readExport(context)
  await context.rest.ask('look', 'GET', `/api/sessions/${sessionId}`)
}

/** Requests a stop in one of the three possible ways. */
async function stop(context: ActorContext, sessionId: string): Promise<void> {
  context.expectInterruption(sessionId)
  const requestedAtMs = Date.now()
  const done = await context.random.pick([stopOverRest, stopAtHub, stopAtGateway])(context, sessionId)
  if (done) context.evidence.stops.push({ sessionId, requestedAtMs, reportedAtMs: Date.now() })
}

async function stopOverRest({ rest: api }: ActorContext, sessionId: string): Promise<boolean> {
  const action = { action: 'emergency_stop', reason: 'chaos' }
  const reply = await api.ask('stop over REST', 'PATCH', `/api/sessions/${sessionId}`, action)
  return reply.outcome === 'acknowledged'
}

async function stopAtHub({ view, evidence }: ActorContext, sessionId: string): Promise<boolean> {
  try {
    await view.client.action(sessionId, 'emergency_stop', 'chaos')
    evidence.count('stop at the hub', 'acknowledged')
    return true
  } catch (cause) {
    const refused = cause instanceof HubError && cause.status < 500
    evidence.count('stop at the hub', refused ? 'refused' : 'unknown')
    return false
  }
}

async function stopAtGateway({ user, baseUrl, Socket, evidence, over }: ActorContext, sessionId: string) {
  const link = new ObserverLink({
    getTicket: ticketsOf({ baseUrl, token: user.apiKey, sessionId, part: 'watch' }),
    reconnect: { baseMs: 100, maxMs: 1_500 },
    WebSocket: Socket,
    onError: () => {},
  })
  link.connect().catch(() => {})
  const recorded = link.stop('chaos').then(
    () => true,
    () => false,
  )
  const notified = await Promise.race([recorded, rest(over, STOP_LIMIT_MS)])
  await link.close()
  evidence.count('stop at the gateway', notified === true ? 'acknowledged' : 'unknown')
  return notified === true
}
