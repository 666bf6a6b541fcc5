import type { Context } from '../context.ts'
import { type MarkOptions, markEpisode } from './mark-episode.ts'

/** Ends the running episode without a trace in the dataset. */
export async function run(cli: Context, options: MarkOptions): Promise<void> {
  await markEpisode(cli, 'discard', options)
}
