import type { ActorContext } from './context.ts'

/** Reads an export of a user's sessions under load: it is either complete, or visibly truncated. */
export async function readExport({ rest, evidence, user }: ActorContext): Promise<void> {
  const reply = await rest.ask('export', 'POST', '/api/sessions/export', { format: 'json' })
  if (reply.outcome !== 'acknowledged') return
  const { sessions } = reply.body
  if (!Array.isArray(sessions))
    return evidence.violations.add(`an export for ${user.name} contains no sessions`)
  const ids = sessions.map((session: { id: string }) => session.id)
  if (new Set(ids).size !== ids.length)
    evidence.violations.add(`an export for ${user.name} contains a session twice`)
}
