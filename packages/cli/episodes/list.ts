import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'
import { resolveSessionId } from '../watch/resolve-session.ts'
import { episodeColumns } from './view.ts'

/** Prints the episodes of a session, and the one that runs. */
export async function run(cli: Context, { session }: { readonly session?: string }): Promise<void> {
  const params = { path: { id: await resolveSessionId(cli, session) } }
  const found = await answerOf(cli.rest.GET('/api/sessions/{id}/episodes', { params }))
  const { running, episodes } = found
  cli.out.result(found, () => {
    cli.out.list(episodes, episodeColumns, 'No episodes yet.')
    if (!running) return
    const task = running.task === null ? '' : `: ${running.task}`
    cli.out.note(`An episode runs since ${formatTime(running.started_at)}${task}`)
  })
}
