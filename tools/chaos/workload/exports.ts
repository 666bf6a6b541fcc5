import type { ActorContext } from './context.ts'

/** Reads an export of one's sessions while things move: it is whole, or it is visibly broken. */
export async function readExport({ rest, evidence, user }: ActorContext): Promise<void> {
  const reply = await rest.ask('export', 'POST', '/api/sessions/export', { format: 'json' })
  if (reply.outcome !== 'acknowledged') return
  const { sessions } = reply.body
  if (!Array.isArray(sessions)) return evidence.violations.add(`an export for ${user.name} holds no sessions`)
  const ids = sessions.map((session: { id: string }) => session.id)
  if (new Set(ids).size !== ids.length)
    evidence.violations.add(`an export for ${user.name} names a session twice`)
}
