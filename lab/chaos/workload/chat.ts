import { randomUUID } from 'node:crypto'
import { HubError } from '@wheelhouse/sdk'
import type { SentMessage } from '../evidence.ts'
import type { ActorContext } from './context.ts'

const TIMEOUT_MS = 30_000

/** Sends a chat message: through the hub, or over REST with one of the two ways to repeat it safely. */
export async function sendChatMessage(context: ActorContext, sessionId: string): Promise<void> {
  const sentMessage: SentMessage = {
    sessionId,
    senderId: context.user.id,
    body: `words ${randomUUID()}`,
    answer: null,
  }
  context.evidence.messages.push(sentMessage)
  if (context.random.chance(0.5)) await overHub(context, sentMessage)
  else await overRest(context, sentMessage)
}

async function overHub({ view, evidence }: ActorContext, sentMessage: SentMessage): Promise<void> {
  try {
    const { id, seq } = await view.client.sendChat(sentMessage.sessionId, sentMessage.body)
    sentMessage.answer = { id, seq }
    evidence.count('chat over the hub', 'acknowledged')
  } catch (cause) {
    const refused = cause instanceof HubError && cause.status < 500 && cause.status !== 429
    evidence.count('chat over the hub', refused ? 'refused' : 'unknown')
    if (cause instanceof HubError && cause.status === 500)
      evidence.violations.add(`chat over the hub: ${cause.message}`)
  }
}

async function overRest({ rest, random }: ActorContext, sentMessage: SentMessage): Promise<void> {
  const body = { body: sentMessage.body, ...(random.chance(0.5) && { clientMessageId: randomUUID() }) }
  const reply = await rest.post(
    'chat over REST',
    `/api/sessions/${sentMessage.sessionId}/messages`,
    body,
    TIMEOUT_MS,
  )
  if (reply.outcome === 'kept') sentMessage.answer = 'kept'
  if (reply.outcome === 'acknowledged')
    sentMessage.answer = { id: String(reply.body.id), seq: Number(reply.body.seq) }
}
