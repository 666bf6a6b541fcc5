import type { EpisodeInput } from '../lerobot/dataset-input.ts'

/**
 * Time and episodes of a part at most. LeRobot compares the times of frames in a video as 32-bit floats with a tolerance of 0.1 ms,
 * which they keep for about 1,000 s.
 */
const MAX_PART_MS = 900_000
const MAX_PART_EPISODES = 500

const durationOf = ({ startMs, endMs }: EpisodeInput): number => endMs - startMs

/** Returns the episodes of the next part, at least one. */
export function nextPart(episodes: readonly EpisodeInput[], done: number): EpisodeInput[] {
  const part: EpisodeInput[] = []
  let durationMs = 0
  for (const episode of episodes.slice(done, done + MAX_PART_EPISODES)) {
    durationMs += durationOf(episode)
    if (part.length > 0 && durationMs > MAX_PART_MS) break
    part.push(episode)
  }
  return part
}

/** The part of the progress that the planning takes. */
const PLANNING = 0.1

export const planningProgress = (done: number): number => PLANNING * done

/** Returns the progress of an export: of the episodes that are stored, and of the part that is being written. */
export function writingProgress(
  episodes: readonly EpisodeInput[],
  doneEpisodes: number,
  part: { readonly episodes: number; readonly done: number },
): number {
  const sum = (from: number, to: number) =>
    episodes.slice(from, to).reduce((total, episode) => total + durationOf(episode) + 1, 0)
  const total = sum(0, episodes.length)
  const current = sum(doneEpisodes, doneEpisodes + part.episodes)
  return PLANNING + (1 - PLANNING) * ((sum(0, doneEpisodes) + current * part.done) / total)
}
