import { useMemo } from 'react'
import type { RecordedEpisode, SessionEpisodes } from '../recording/recordings.ts'
import { useSessionEpisodes } from '../recording/use-recordings.ts'

const NO_EPISODES: readonly RecordedEpisode[] = []

/** Returns the episodes of a session and the one that runs, stable while the answer is. */
export function useShownEpisodes(sessionId: string): readonly RecordedEpisode[] {
  const state = useSessionEpisodes(sessionId).data
  return useMemo(() => withRunning(state), [state])
}

function withRunning(state: SessionEpisodes | null | undefined): readonly RecordedEpisode[] {
  if (!state) return NO_EPISODES
  const { episodes, running } = state
  if (!running) return episodes
  const id = `running ${running.started_at}`
  return [...episodes, { ...running, id, episode_id: id, ended_at: null, success: null, source: 'platform' }]
}
