import { HubError, ticketsOf, WatcherLink } from '@wheelhouse/sdk'
import { readExport } from './exports.ts'
import { rest, type Scene } from './scene.ts'
import { talk } from './talk.ts'

const ACT_EVERY_MS = [500, 2_500] as const
const STOP_LIMIT_MS = 6_000

/** An owner who looks on: talks, asks for more time, stops, rates, reads exports, until it is over. */
export async function playOwner(scene: Scene): Promise<void> {
  const { random, over, view } = scene
  while (!over.aborted) {
    await rest(over, random.between(...ACT_EVERY_MS))
    const open = [...view.open]
    const ended = view.over.shift()
    if (ended !== undefined && random.chance(0.6)) await rate(scene, ended)
    if (open.length === 0 || over.aborted) continue
    const sessionId = random.pick(open)
    await random.pick([talk, talk, talk, talk, extend, extend, stop, pause, look])(scene, sessionId)
  }
}

async function rate({ rest: api, random, evidence }: Scene, sessionId: string): Promise<void> {
  const rating = 1 + random.below(5)
  const reply = await api.post('rate', `/api/sessions/${sessionId}/rate`, { rating })
  if (reply.outcome === 'acknowledged' || reply.outcome === 'kept')
    evidence.ratings.push({ sessionId, rating })
}

async function extend({ rest: api, random }: Scene, sessionId: string): Promise<void> {
  await api.post('extend', `/api/sessions/${sessionId}/extend`, { additionalMinutes: 1 + random.below(30) })
}

async function pause({ rest: api, excuse }: Scene, sessionId: string): Promise<void> {
  excuse(sessionId)
  await api.ask('pause', 'PATCH', `/api/sessions/${sessionId}`, { action: 'pause' })
}

async function look(scene: Scene, sessionId: string): Promise<void> {
  if (scene.random.chance(0.3)) return await readExport(scene)
  await scene.rest.ask('look', 'GET', `/api/sessions/${sessionId}`)
}

/** Presses the stop in one of the three ways there are. */
async function stop(scene: Scene, sessionId: string): Promise<void> {
  scene.excuse(sessionId)
  const pressedAtMs = Date.now()
  const done = await scene.random.pick([stopOverRest, stopAtHub, stopAtGateway])(scene, sessionId)
  if (done) scene.evidence.stops.push({ sessionId, pressedAtMs, toldAtMs: Date.now() })
}

async function stopOverRest({ rest: api }: Scene, sessionId: string): Promise<boolean> {
  const action = { action: 'emergency_stop', reason: 'chaos' }
  const reply = await api.ask('stop over REST', 'PATCH', `/api/sessions/${sessionId}`, action)
  return reply.outcome === 'acknowledged'
}

async function stopAtHub({ view, evidence }: Scene, sessionId: string): Promise<boolean> {
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

async function stopAtGateway({ person, baseUrl, Socket, evidence, over }: Scene, sessionId: string) {
  const link = new WatcherLink({
    getTicket: ticketsOf({ baseUrl, token: person.apiKey, sessionId, part: 'watch' }),
    reconnect: { baseMs: 100, maxMs: 1_500 },
    WebSocket: Socket,
    onError: () => {},
  })
  link.connect().catch(() => {})
  const recorded = link.stop('chaos').then(
    () => true,
    () => false,
  )
  const told = await Promise.race([recorded, rest(over, STOP_LIMIT_MS)])
  await link.close()
  evidence.count('stop at the gateway', told === true ? 'acknowledged' : 'unknown')
  return told === true
}
