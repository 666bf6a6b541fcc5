import { AppError, conflict } from '../../../core/errors/errors.ts'
import type { CallContext, RouteInput, RouteInvoker } from './route-invoker.ts'

/** The maximum of open sessions of one caller that are searched for a name. */
const PAGE_SIZE = 100
const MAX_PAGES = 10
const MAX_LISTED = 10
const OPEN = ['ACTIVE', 'PAUSED']
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface OpenSession {
  readonly id: string
  readonly robot_id: string
  readonly robot_name: string
}

/**
 * Finds the open session of a robot that the caller operates or owns. An admin may name any robot in a session.
 * @throws 404 when no session matches, 409 with all candidates when several robots have the name
 */
export async function sessionOfRobot(
  robot: string,
  routes: RouteInvoker,
  context: CallContext,
): Promise<string> {
  const wanted = robot.trim().toLowerCase()
  const matchesRobot = ({ robot_id, robot_name }: OpenSession) =>
    UUID.test(wanted) ? robot_id === wanted : robot_name.trim().toLowerCase() === wanted
  const ownMatches = (await ownSessions(wanted, routes, context)).filter(matchesRobot)
  const found = ownMatches.length > 0 ? ownMatches : (await allSessions(routes, context)).filter(matchesRobot)
  const [session, ...others] = found
  if (!session)
    throw new AppError(
      404,
      'not_found',
      'No open session of yours has a robot with this id or name. List your sessions to find it.',
    )
  if (others.length === 0) return session.id
  const listed = found.slice(0, MAX_LISTED).map(({ id, robot_id }) => `${robot_id} (session ${id})`)
  throw conflict(
    'robot_name_ambiguous',
    `${found.length} robots in open sessions have this name. Use an id: ${listed.join(', ')}`,
  )
}

/** Lists the open sessions of the caller. Filters by robot when the call names it by id. */
async function ownSessions(
  wanted: string,
  routes: RouteInvoker,
  context: CallContext,
): Promise<OpenSession[]> {
  const found = new Map<string, OpenSession>()
  for (const status of OPEN) {
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { status, limit: String(PAGE_SIZE), offset: String(page * PAGE_SIZE) }
      const input: RouteInput = { query: UUID.test(wanted) ? { ...query, robotId: wanted } : query }
      const sessions = sessionsIn(await routes.call('GET /api/sessions', input, context))
      for (const session of sessions) found.set(session.id, session) // a session that changes its status during the queries is returned twice
      if (sessions.length < PAGE_SIZE) break
    }
  }
  return [...found.values()]
}

/** Lists all open sessions in the overview of admins; an empty list for other callers. */
async function allSessions(routes: RouteInvoker, context: CallContext): Promise<OpenSession[]> {
  if (!context.caller.roles.includes('admin')) return []
  const { body } = await routes.call('GET /api/admin/overview', {}, context)
  return (body as { sessions: { open: OpenSession[] } }).sessions.open
}

const sessionsIn = ({ body }: { body: unknown }) => (body as { sessions: OpenSession[] }).sessions
