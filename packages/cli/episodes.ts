import { type EpisodeAction, MAX_KEPT_SECONDS } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { resolveSessionId } from './lib/ids.ts'
import { integer } from './lib/options.ts'
import type { Column } from './lib/output.ts'
import { type Piece, styled } from './lib/text.ts'
import { formatDuration, formatTime } from './lib/views.ts'

const SESSION = 'its id, or a prefix of the id (default: your only open session)'
const TASK = 'the task in words; at the end of an episode it replaces the task from its start'

export const commands = { episodes: declareEpisodes }

/** Declares `wheelhouse episodes …`. */
function declareEpisodes(episodes: Command, action: CreateAction): void {
  const mark = (name: string, description: string) =>
    episodes.command(name).description(description).option('--session <session>', SESSION)
  const marking = (event: EpisodeAction) =>
    action((cli, options: MarkOptions) => markEpisode(cli, event, options))
  mark('list', 'list the episodes of a session, oldest first').action(action(list))
  mark('start', 'mark the start of an episode').option('--task <text>', TASK).action(marking('start'))
  mark('success', 'end the running episode, whose task succeeded')
    .option('--task <text>', TASK)
    .action(marking('success'))
  mark('failure', 'end the running episode, whose task failed')
    .option('--task <text>', TASK)
    .action(marking('failure'))
  mark('discard', 'end the running episode without adding it to the dataset').action(marking('discard'))
  mark('keep', 'make an episode of the last seconds, whether or not one runs')
    .option('--task <text>', TASK)
    .option('--seconds <count>', 'how many seconds, up to 120 (default: 30)', integer(1, MAX_KEPT_SECONDS))
    .action(marking('keep'))
}

/** Prints the episodes of a session, and the one that runs. */
async function list(cli: Context, { session }: { readonly session?: string }): Promise<void> {
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

interface MarkOptions {
  readonly session?: string
  readonly task?: string
  readonly seconds?: number
}

/** Marks an episode in the named session, or in the caller's only open one. */
async function markEpisode(
  cli: Context,
  action: EpisodeAction,
  { session, task, seconds }: MarkOptions,
): Promise<void> {
  const params = { path: { id: await resolveSessionId(cli, session) } }
  const body = { action, ...(task !== undefined && { task }), ...(seconds !== undefined && { seconds }) }
  const marked = await answerOf(cli.rest.POST('/api/sessions/{id}/episodes', { params, body }))
  cli.out.result(marked, () => {
    const what = marked.running?.task ?? marked.episode?.task
    const subject = what ? `The episode "${what}"` : 'The episode'
    if (action === 'start') cli.out.line(`${subject} has started.`)
    else if (action === 'discard') cli.out.line('The episode is discarded.')
    else if (action === 'keep') cli.out.line(`${subject} is kept: ${marked.episode?.id ?? ''}`)
    else cli.out.line(`${subject} ended as a ${action}: ${marked.episode?.id ?? ''}`)
  })
}

type Episode = Schemas['Episode']

export const episodeColumns: readonly Column<Episode>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
  { title: 'LENGTH', value: ({ started_at, ended_at }) => formatDuration(started_at, ended_at), right: true },
  { title: 'RESULT', value: resultOf },
  { title: 'TASK', value: ({ task }) => task },
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'MB', value: ({ size_mb }) => size_mb.toFixed(1), right: true },
  { title: 'NOT EXPORTED', value: ({ not_exportable }) => not_exportable },
  { title: 'RECORDING', value: ({ recording_id }) => recording_id, noTruncate: true },
]

function resultOf({ success }: Episode): Piece | undefined {
  if (success === null) return undefined
  return success ? styled('green', 'success') : styled('red', 'failure')
}
