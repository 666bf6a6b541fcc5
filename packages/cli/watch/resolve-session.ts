import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { openSessions, sessionId } from '../ids.ts'

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
