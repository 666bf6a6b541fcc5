import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'

const SESSION = 'its id, or a prefix of the id (default: your only open session)'
const TASK = 'the task in words; at the end of an episode it replaces the task from its start'

/** Declares `wheelhouse episodes …`. */
export function addEpisodes(program: Command, lazyAction: LazyAction): void {
  const episodes = program.command('episodes').description('episodes of an open session, for datasets')
  const mark = (name: string, description: string) =>
    episodes.command(name).description(description).option('--session <session>', SESSION)
  mark('list', 'list the episodes of a session, oldest first').action(lazyAction(() => import('./list.ts')))
  mark('start', 'mark the start of an episode')
    .option('--task <text>', TASK)
    .action(lazyAction(() => import('./start.ts')))
  mark('success', 'end the running episode, whose task succeeded')
    .option('--task <text>', TASK)
    .action(lazyAction(() => import('./success.ts')))
  mark('failure', 'end the running episode, whose task failed')
    .option('--task <text>', TASK)
    .action(lazyAction(() => import('./failure.ts')))
  mark('discard', 'end the running episode without adding it to the dataset').action(
    lazyAction(() => import('./discard.ts')),
  )
}
