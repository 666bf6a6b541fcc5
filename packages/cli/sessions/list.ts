import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotId } from '../ids.ts'
import { sessionColumns } from './view.ts'

const PAGE = 100

interface Options {
  readonly status?: Schemas['SessionStatus']
  readonly robot?: string
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

/** Prints the caller's sessions. */
export async function run(cli: Context, { robot, limit, ...filter }: Options): Promise<void> {
  const robotFilter = robot === undefined ? {} : { robotId: await robotId(cli, robot) }
  const found = new Map<string, Schemas['Session']>()
  for (let offset = 0; found.size < limit; offset += PAGE) {
    const query = {
      ...filter,
      ...robotFilter,
      limit: Math.min(PAGE, limit - found.size),
      offset,
    }
    const { sessions } = await answerOf(cli.rest.GET('/api/sessions', { params: { query } }))
    // A session created between two pages shifts the others, so a page may repeat sessions.
    for (const session of sessions) found.set(session.id, session)
    if (sessions.length < query.limit) break
  }
  cli.out.list([...found.values()], sessionColumns, 'No sessions.')
}
