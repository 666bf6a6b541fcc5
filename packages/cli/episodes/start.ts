import type { Context } from '../context.ts'
import { type MarkOptions, markEpisode } from './mark-episode.ts'

/** Marks the start of an episode. */
export async function run(cli: Context, options: MarkOptions): Promise<void> {
  await markEpisode(cli, 'start', options)
}
