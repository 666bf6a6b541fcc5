import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import { useMemo } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import type { Recording } from './data/api-types.ts'
import { createRecordingsApi } from './recordings-api.ts'

/** While a session is recorded, new segments are stored every few seconds. */
const POLL_MS = 3_000

export const isUnfinished = ({ status }: Pick<Recording, 'status'>): boolean =>
  status === 'RECORDING' || status === 'FINISHING'

export function useRecordingsApi() {
  const { rest } = usePlatform()
  return useMemo(() => createRecordingsApi(rest), [rest])
}

/** Queries the recording of a session; null for a session without one. Live events about it query it again. */
export function useSessionRecording(sessionId: string) {
  const api = useRecordingsApi()
  return useQuery({
    // Below the key of sessions, which live events invalidate.
    queryKey: [...keys.sessions, 'recording', sessionId],
    queryFn: async ({ signal }) => {
      try {
        return await api.ofSession(sessionId, signal)
      } catch (cause) {
        if (cause instanceof ApiError && cause.status === 404) return null
        throw cause
      }
    },
    refetchInterval: ({ state }) => (state.data && isUnfinished(state.data) ? POLL_MS : false),
  })
}

/** Queries what of a recording can be read. */
export function useRecordingParts(recording: Recording) {
  const api = useRecordingsApi()
  return useQuery({
    queryKey: [...keys.recordings, recording.id, 'parts', recording.status],
    queryFn: ({ signal }) => api.parts(recording.id, signal),
    refetchInterval: ({ state }) => (state.data?.complete ? false : POLL_MS),
    placeholderData: (previous) => previous,
  })
}

/** Returns a function that queries everything about a recording again. */
export function useInvalidateRecording(id: string) {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: [...keys.recordings, id] })
}
