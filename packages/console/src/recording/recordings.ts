import { useQuery } from '@tanstack/react-query'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { type Answer, byId, useRead } from '../platform/rest.ts'

export type Recording = Schemas['Recording']
export type RecordingGap = Schemas['RecordingGap']
export type RecordingParts = NonNullable<ReturnType<typeof useRecordingParts>['data']>
/** A complete MCAP file: the whole recording, or one stored segment. */
export type RecordingPart = RecordingParts['parts'][number]
export type RecordingShare = Schemas['RecordingShare']
export type Bookmark = Schemas['RecordingBookmark']
export type DatasetExport = Schemas['DatasetExport']
export type SessionEpisodes = NonNullable<ReturnType<typeof useSessionEpisodes>['data']>

/** An episode that the replay shows. `ended_at` is null while it runs. */
export type RecordedEpisode = Pick<
  Schemas['Episode'],
  'id' | 'episode_id' | 'started_at' | 'success' | 'task' | 'source'
> & { readonly ended_at: string | null }

/** While a session is recorded, new segments are stored every few seconds. */
const POLL_MS = 3_000

export const isUnfinished = ({ status }: Pick<Recording, 'status'>): boolean =>
  status === 'RECORDING' || status === 'FINISHING'

/**
 * Queries the recording of a session; null for a session without one. Live events query it again.
 * @param options.polls whether the page shows its size, which no event announces
 */
export function useSessionRecording(sessionId: string, { polls = false } = {}) {
  const { rest } = usePlatform()
  return useQuery({
    // Below the key of sessions, which live events invalidate.
    queryKey: [...keys.sessions, 'recording', sessionId],
    queryFn: ({ signal }) => orNull(rest.GET('/api/sessions/{id}/recording', { ...byId(sessionId), signal })),
    refetchInterval: ({ state }) => (polls && state.data && isUnfinished(state.data) ? POLL_MS : false),
  })
}

/** Queries the episodes of a session; null where there are none to see. Live events query them again. */
export function useSessionEpisodes(sessionId: string) {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: episodesKey(sessionId),
    queryFn: ({ signal }) => orNull(rest.GET('/api/sessions/{id}/episodes', { ...byId(sessionId), signal })),
  })
}
export const episodesKey = (sessionId: string) => [...keys.sessions, 'episodes', sessionId]

async function orNull<A extends Answer>(request: Promise<A>) {
  try {
    return await answerOf(request)
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return null
    throw cause
  }
}

/** Queries what of a recording can be read, once the recording is known. */
export const useRecordingParts = (recording: Recording | undefined) =>
  useRead(
    [...keys.recordings, recording?.id, 'parts', recording?.status],
    (rest, { signal }) => rest.GET('/api/recordings/{id}/parts', { ...byId(recording?.id ?? ''), signal }),
    {
      enabled: recording !== undefined,
      refetchInterval: ({ state }) => (state.data?.complete ? false : POLL_MS),
      placeholderData: (previous) => previous,
    },
  )
