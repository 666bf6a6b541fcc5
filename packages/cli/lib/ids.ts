import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from './context.ts'
import { Failure } from './failure.ts'
import { readPages } from './pages.ts'

const FULL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Shorter prefixes would often match several ids. */
const SHORTEST_PREFIX = 4
/** Size of one page. With more sessions, a prefix may also match a session outside the page. */
const SESSION_LOOKUP_LIMIT = 100

interface NamedResource {
  readonly id: string
  readonly name?: string
}

/** Returns whether the text is a full id, which needs no request. */
export const isFullId = (idOrName: string) => FULL_ID.test(idOrName)

/**
 * Returns the only candidate that matches a prefix of an id or a name.
 * @param list the command that lists all candidates
 * @throws Failure for no match and for several
 */
export function findUnique<T extends NamedResource>(
  candidates: readonly T[],
  idOrName: string,
  kind: string,
  list: string,
): T {
  const lower = idOrName.toLowerCase()
  const byName = candidates.filter(({ name }) => name !== undefined && name.toLowerCase() === lower)
  const byId = idOrName.length < SHORTEST_PREFIX ? [] : candidates.filter(({ id }) => id.startsWith(lower))
  const found = byName.length > 0 ? byName : byId
  if (found.length === 1) return found[0] as T
  if (found.length === 0) {
    throw new Failure('not_found', `You have no ${kind} "${idOrName}". See: wheelhouse ${list}`)
  }
  const ids = found.map(({ id }) => id).join(', ')
  throw new Failure('usage', `"${idOrName}" matches several ${kind}s: ${ids}. Type more of the id.`)
}

/** Returns the text if it is a full id, else the id of the only candidate that matches it; see `findUnique`. */
export async function idOf(
  idOrName: string,
  kind: string,
  list: string,
  candidates: () => Promise<readonly NamedResource[]>,
): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  return findUnique(await candidates(), idOrName, kind, list).id
}

/** Returns the id of one of the caller's robots, from its id, a prefix of the id, or its name. */
export async function robotId(cli: Context, idOrName: string): Promise<string> {
  return await idOf(idOrName, 'robot', 'robots list', () => ownRobots(cli))
}

/** Returns the id of a robot that is available to the operator, from its id, a prefix of the id, or its name. */
export async function availableRobotId(cli: Context, idOrName: string): Promise<string> {
  return await idOf(idOrName, 'available robot', 'robots available', async () => {
    const { robots } = await answerOf(cli.rest.GET('/api/operator/available-robots'))
    return robots
  })
}

/** Returns the id of one of the caller's sessions, from its id or a prefix of the id. */
export async function sessionId(cli: Context, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const query = { limit: SESSION_LOOKUP_LIMIT }
  const { sessions } = await answerOf(cli.rest.GET('/api/sessions', { params: { query } }))
  const found = findUnique(sessions, idOrName, 'session', 'sessions list')
  if (sessions.length < SESSION_LOOKUP_LIMIT) return found.id
  throw new Failure(
    'usage',
    `You have more than ${SESSION_LOOKUP_LIMIT} sessions. Type the full id, such as ${found.id}`,
  )
}

/**
 * Returns the caller's sessions that are ACTIVE or PAUSED. The lists are read one after the other, and ACTIVE twice: a session that was
 * resumed after the first list and before the second would be in neither, and one that was paused in between is in both.
 */
export async function openSessions(cli: Context): Promise<Schemas['Session'][]> {
  const open = new Map<string, Schemas['Session']>()
  for (const status of ['ACTIVE', 'PAUSED', 'ACTIVE'] as const) {
    const query = { status, limit: SESSION_LOOKUP_LIMIT }
    const { sessions } = await answerOf(cli.rest.GET('/api/sessions', { params: { query } }))
    for (const session of sessions) open.set(session.id, session)
  }
  return [...open.values()]
}

/**
 * Returns the id of the named session, or of the caller's only open one.
 * @throws Failure when no session or several match
 */
export async function resolveSessionId(cli: Context, idOrPrefix: string | undefined): Promise<string> {
  if (idOrPrefix !== undefined) return sessionId(cli, idOrPrefix)
  const open = await openSessions(cli)
  const [only, ...others] = open
  if (!only) throw new Failure('not_found', 'You have no open session. See all: wheelhouse sessions list')
  if (others.length === 0) return only.id
  const choices = open.map(({ id, robot_name }) => `${id} (${robot_name})`).join('\n  ')
  throw new Failure('usage', `You have several open sessions. Name one:\n  ${choices}`)
}

interface RobotFilters {
  readonly status?: Schemas['RobotStatus']
  readonly robot_type?: string
  readonly tag?: string
  readonly battery_below?: number
  readonly search?: string
}

/** Size of one page. */
const ROBOTS_PAGE = 100

/** Returns the caller's robots, newest first. */
export async function ownRobots(
  cli: Pick<Context, 'rest'>,
  filters: RobotFilters = {},
  { limit = Number.POSITIVE_INFINITY, offset = 0 } = {},
): Promise<Schemas['Robot'][]> {
  return await readPages({ limit, pageSize: ROBOTS_PAGE }, (size, found) => {
    const query = { ...filters, limit: size, offset: offset + found.length }
    return answerOf(cli.rest.GET('/api/client/robots', { params: { query } }))
  })
}
