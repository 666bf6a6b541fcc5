import type { Scene } from './scene.ts'

/** Reads an export of one's sessions while things move: it is whole, or it is visibly broken. */
export async function readExport({ rest, evidence, person }: Scene): Promise<void> {
  const reply = await rest.ask('export', 'POST', '/api/sessions/export', { format: 'json' })
  if (reply.outcome !== 'acknowledged') return
  const { sessions } = reply.body
  if (!Array.isArray(sessions)) return evidence.sights.add(`an export for ${person.name} holds no sessions`)
  const ids = sessions.map((session: { id: string }) => session.id)
  if (new Set(ids).size !== ids.length)
    evidence.sights.add(`an export for ${person.name} names a session twice`)
}
