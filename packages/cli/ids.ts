import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from './context.ts'
import { Failure } from './failure.ts'
import { ownRobots } from './robots/own-robots.ts'

const FULL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Fewer signs of an id are too easily another one's. */
const SHORTEST_PREFIX = 4
/** As many sessions as one answer holds. Where there are more, the beginning of an id may be another session's too. */
const SESSION_LOOKUP_LIMIT = 100

interface NamedResource {
  readonly id: string
  readonly name?: string
}

/** Whether it is an id as a whole, which nothing needs to be looked up for. */
export const isFullId = (idOrName: string) => FULL_ID.test(idOrName)

/**
 * The one thing that the beginning of an id, or a name, can mean.
 * @param list the command that shows all there are
 * @throws Failure for none and for several
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
    throw new Failure('not_found', `There is no ${kind} "${idOrName}" among yours. See: wheelhouse ${list}`)
  }
  const ids = found.map(({ id }) => id).join(', ')
  throw new Failure('usage', `"${idOrName}" may be any of several ${kind}s: ${ids}. Give more of the id.`)
}

/** The id of one of the caller's robots, given by its id, the beginning of that, or its name. */
export async function robotId(cli: Context, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  return findUnique(await ownRobots(cli), idOrName, 'robot', 'robots list').id
}

/** The same for a robot that an operator may take. */
export async function availableRobotId(cli: Context, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const { robots } = await answerOf(cli.rest.GET('/api/operator/available-robots'))
  return findUnique(robots, idOrName, 'available robot', 'robots available').id
}

/** The id of one of the caller's sessions, given by its id or the beginning of that. */
export async function sessionId(cli: Context, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const query = { limit: SESSION_LOOKUP_LIMIT }
  const { sessions } = await answerOf(cli.rest.GET('/api/sessions', { params: { query } }))
  const found = findUnique(sessions, idOrName, 'session', 'sessions list')
  if (sessions.length < SESSION_LOOKUP_LIMIT) return found.id
  throw new Failure(
    'usage',
    `You have more than ${SESSION_LOOKUP_LIMIT} sessions: give the whole id, such as ${found.id}`,
  )
}

/** The caller's sessions that are ACTIVE or PAUSED. */
export async function openSessions(cli: Context): Promise<Schemas['Session'][]> {
  const pages = await Promise.all(
    (['ACTIVE', 'PAUSED'] as const).map((status) =>
      answerOf(cli.rest.GET('/api/sessions', { params: { query: { status, limit: SESSION_LOOKUP_LIMIT } } })),
    ),
  )
  return pages.flatMap(({ sessions }) => sessions)
}
