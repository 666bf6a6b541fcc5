import type { Asking, RouteCalls } from './route-calls.ts'

/** A thing with an id, and the words by which people look for it. */
export interface Known {
  readonly id: string
  readonly title: string
}

/** As many as are offered at once. */
const SESSIONS = '20'
const ROBOTS = '100'

/** The robots and sessions that a caller can name. */
export function createIds(routes: RouteCalls, asking: Asking) {
  return {
    /** The caller's own robots; none for who is no client. */
    async robots(): Promise<Known[]> {
      if (!asking.caller.roles.includes('client')) return []
      const { body } = await routes.call('GET /api/client/robots', { query: { limit: ROBOTS } }, asking)
      return (body as { id: string; name: string; robot_type: string }[]).map(({ id, name, robot_type }) => ({
        ...{ id, title: `${name} (${robot_type})` },
      }))
    },

    /** The newest sessions of the caller. */
    async sessions(): Promise<Known[]> {
      const { body } = await routes.call('GET /api/sessions', { query: { limit: SESSIONS } }, asking)
      const { sessions } = body as {
        sessions: { id: string; status: string; robot_name: string; created_at: string }[]
      }
      return sessions.map(({ id, status, robot_name, created_at }) => ({
        ...{ id, title: `${robot_name}, ${status}, ${created_at.slice(0, 10)}` },
      }))
    },
  }
}
export type Ids = ReturnType<typeof createIds>

/** Ids that begin as typed, or whose thing is called so. */
export const matching = (known: readonly Known[], typed: string): string[] => {
  const wanted = typed.toLowerCase()
  return known
    .filter(({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted))
    .map(({ id }) => id)
}
