import type { CallContext, RouteInvoker } from './route-invoker.ts'

/** A thing with an id, and the words by which people look for it. */
export interface IdCandidate {
  readonly id: string
  readonly title: string
}

/** As many as are offered at once. */
const SESSIONS = '20'
const ROBOTS = '100'

/** The robots and sessions that a caller can name. */
export function createIdCandidates(routes: RouteInvoker, context: CallContext) {
  return {
    /** The caller's own robots; none for who is no client. */
    async robots(): Promise<IdCandidate[]> {
      if (!context.caller.roles.includes('client')) return []
      const { body } = await routes.call('GET /api/client/robots', { query: { limit: ROBOTS } }, context)
      return (body as { id: string; name: string; robot_type: string }[]).map(({ id, name, robot_type }) => ({
        id,
        title: `${name} (${robot_type})`,
      }))
    },

    /** The newest sessions of the caller. */
    async sessions(): Promise<IdCandidate[]> {
      const { body } = await routes.call('GET /api/sessions', { query: { limit: SESSIONS } }, context)
      const { sessions } = body as {
        sessions: { id: string; status: string; robot_name: string; created_at: string }[]
      }
      return sessions.map(({ id, status, robot_name, created_at }) => ({
        id,
        title: `${robot_name}, ${status}, ${created_at.slice(0, 10)}`,
      }))
    },
  }
}
export type IdCandidates = ReturnType<typeof createIdCandidates>

/** Ids that begin as typed, or whose thing is called so. */
export const filterCandidates = (candidates: readonly IdCandidate[], typed: string): string[] => {
  const wanted = typed.toLowerCase()
  return candidates
    .filter(({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted))
    .map(({ id }) => id)
}
