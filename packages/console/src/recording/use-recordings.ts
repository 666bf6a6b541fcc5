import { useQuery } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import { useMemo } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { createRecordingsApi, type Recording } from './recordings.ts'

/** While a session is recorded, new segments are stored every few seconds. */
const POLL_MS = 3_000

export const isUnfinished = ({ status }: Pick<Recording, 'status'>): boolean =>
  status === 'RECORDING' || status === 'FINISHING'

export function useRecordingsApi() {
  const { rest } = usePlatform()
  return useMemo(() => createRecordingsApi(rest), [rest])
}

/**
 * Queries the recording of a session; null for a session without one. Live events query it again.
 * @param options.polls whether the page shows its size, which no event announces
 */
export function useSessionRecording(sessionId: string, { polls = false } = {}) {
  const api = useRecordingsApi()
  return useQuery({
    // Below the key of sessions, which live events invalidate.
    queryKey: [...keys.sessions, 'recording', sessionId],
    queryFn: ({ signal }) => orNull(api.ofSession(sessionId, signal)),
    refetchInterval: ({ state }) => (polls && state.data && isUnfinished(state.data) ? POLL_MS : false),
  })
}

/** Queries the episodes of a session; null where there are none to see. Live events query them again. */
export function useSessionEpisodes(sessionId: string) {
  const api = useRecordingsApi()
  return useQuery({
    queryKey: episodesKey(sessionId),
    queryFn: ({ signal }) => orNull(api.episodes(sessionId, signal)),
  })
}
export const episodesKey = (sessionId: string) => [...keys.sessions, 'episodes', sessionId]

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return null
    throw cause
  }
}

/** Queries what of a recording can be read, once the recording is known. */
export function useRecordingParts(recording: Recording | undefined) {
  const api = useRecordingsApi()
  return useQuery({
    queryKey: [...keys.recordings, recording?.id, 'parts', recording?.status],
    queryFn: ({ signal }) => api.parts(recording?.id ?? '', signal),
    enabled: recording !== undefined,
    refetchInterval: ({ state }) => (state.data?.complete ? false : POLL_MS),
    placeholderData: (previous) => previous,
  })
}
