import type { CallContext, RouteInvoker } from './route-invoker.ts'

/** A resource id, and the words by which users search for it. */
export interface IdCandidate {
  readonly id: string
  readonly title: string
}

/** The number of sessions to suggest. */
const SESSIONS = '20'
const ROBOTS = '100'

/** Creates the lists of robots and sessions that a caller can refer to. */
export function createIdCandidates(routes: RouteInvoker, context: CallContext) {
  return {
    /** Returns the robots of the caller; an empty list for a caller who is not a client. */
    async robots(): Promise<IdCandidate[]> {
      if (!context.caller.roles.includes('client')) return []
      const { body } = await routes.call('GET /api/client/robots', { query: { limit: ROBOTS } }, context)
      return (body as { id: string; name: string; robot_type: string }[]).map(({ id, name, robot_type }) => ({
        id,
        title: `${name} (${robot_type})`,
      }))
    },

    /** Returns the newest sessions of the caller. */
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

/** Returns the ids that start with the typed text or whose name contains it. */
export const filterCandidates = (candidates: readonly IdCandidate[], typed: string): string[] => {
  const wanted = typed.toLowerCase()
  return candidates
    .filter(({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted))
    .map(({ id }) => id)
}
