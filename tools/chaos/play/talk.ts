import { randomUUID } from 'node:crypto'
import { HubError } from '@wheelhouse/sdk'
import type { SaidMessage } from '../evidence.ts'
import type { Scene } from './scene.ts'

const PATIENCE_MS = 30_000

/** Says something in a session: through the hub, or over REST with one of the two ways to repeat it safely. */
export async function talk(scene: Scene, sessionId: string): Promise<void> {
  const said: SaidMessage = {
    sessionId,
    senderId: scene.person.id,
    body: `words ${randomUUID()}`,
    answer: null,
  }
  scene.evidence.messages.push(said)
  if (scene.random.chance(0.5)) await overHub(scene, said)
  else await overRest(scene, said)
}

async function overHub({ view, evidence }: Scene, said: SaidMessage): Promise<void> {
  try {
    const { id, seq } = await view.client.sendChat(said.sessionId, said.body)
    said.answer = { id, seq }
    evidence.count('chat over the hub', 'acknowledged')
  } catch (cause) {
    const refused = cause instanceof HubError && cause.status < 500 && cause.status !== 429
    evidence.count('chat over the hub', refused ? 'refused' : 'unknown')
    if (cause instanceof HubError && cause.status === 500)
      evidence.sights.add(`chat over the hub: ${cause.message}`)
  }
}

async function overRest({ rest, random }: Scene, said: SaidMessage): Promise<void> {
  const body = { body: said.body, ...(random.chance(0.5) && { clientMessageId: randomUUID() }) }
  const reply = await rest.post(
    'chat over REST',
    `/api/sessions/${said.sessionId}/messages`,
    body,
    PATIENCE_MS,
  )
  if (reply.outcome === 'kept') said.answer = 'kept'
  if (reply.outcome === 'acknowledged')
    said.answer = { id: String(reply.body.id), seq: Number(reply.body.seq) }
}
