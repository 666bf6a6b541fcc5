import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'

/**
 * The session that is meant where none is named: the caller's only open one.
 * @throws Failure when there is none, or more than one
 */
export async function onlyOpenSession(cli: Context): Promise<string> {
  const pages = await Promise.all(
    (['ACTIVE', 'PAUSED'] as const).map((status) =>
      answerOf(cli.rest.GET('/api/sessions', { params: { query: { status, limit: 3 } } })),
    ),
  )
  const open = pages.flatMap(({ sessions }) => sessions)
  const [only, ...others] = open
  if (!only) throw new Failure('not_found', 'You have no open session. Others: wheelhouse sessions list')
  if (others.length === 0) return only.id
  const some = open.map(({ id, robot_name }) => `${id} (${robot_name})`).join('\n  ')
  throw new Failure('usage', `You have several open sessions. Name one:\n  ${some}`)
}
