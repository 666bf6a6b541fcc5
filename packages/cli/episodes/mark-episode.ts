import type { EpisodeAction } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { resolveSessionId } from '../watch/resolve-session.ts'

export interface MarkOptions {
  readonly session?: string
  readonly task?: string
}

/** Marks an episode in the named session, or in the caller's only open one. */
export async function markEpisode(
  cli: Context,
  action: EpisodeAction,
  { session, task }: MarkOptions,
): Promise<void> {
  const params = { path: { id: await resolveSessionId(cli, session) } }
  const body = { action, ...(task !== undefined && { task }) }
  const marked = await answerOf(cli.rest.POST('/api/sessions/{id}/episodes', { params, body }))
  cli.out.result(marked, () => {
    const what = marked.running?.task ?? marked.episode?.task
    const subject = what ? `The episode "${what}"` : 'The episode'
    if (action === 'start') cli.out.line(`${subject} has started.`)
    else if (action === 'discard') cli.out.line('The episode is discarded.')
    else cli.out.line(`${subject} ended as a ${action}: ${marked.episode?.id ?? ''}`)
  })
}
