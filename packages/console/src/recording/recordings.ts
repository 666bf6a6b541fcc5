import type { EpisodeAction } from '@wheelhouse/protocol'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'

// The responses of the REST API about recordings, episodes and exports. The types come from its description.

type Answer<K extends keyof RecordingsApi> = Awaited<ReturnType<RecordingsApi[K]>>

export type Recording = Schemas['Recording']
export type RecordingGap = Schemas['RecordingGap']
export type RecordingPage = Answer<'list'>
export type RecordingParts = Answer<'parts'>
/** A complete MCAP file: the whole recording, or one stored segment. */
export type RecordingPart = RecordingParts['parts'][number]
export type RecordingDownload = Schemas['RecordingDownload']
export type RecordingShare = Schemas['RecordingShare']
export type Bookmark = Schemas['RecordingBookmark']
export type DatasetExport = Schemas['DatasetExport']
export type SessionEpisodes = Answer<'episodes'>

/** An episode that the replay shows. `ended_at` is null while it runs. */
export type RecordedEpisode = Pick<
  Schemas['Episode'],
  'id' | 'episode_id' | 'started_at' | 'success' | 'task' | 'source'
> & { readonly ended_at: string | null }

type RecordingsApi = ReturnType<typeof createRecordingsApi>

const at = (id: string, signal?: AbortSignal) => ({ params: { path: { id } }, ...(signal && { signal }) })

/** Creates the requests about recordings. Each throws an ApiError for a refusal. */
export const createRecordingsApi = (rest: RestClient) => ({
  ofSession: (id: string, signal?: AbortSignal) =>
    answerOf(rest.GET('/api/sessions/{id}/recording', at(id, signal))),
  parts: (id: string, signal?: AbortSignal) =>
    answerOf(rest.GET('/api/recordings/{id}/parts', at(id, signal))),
  list: (
    { robot_id, cursor }: { robot_id?: string | undefined; cursor?: string | undefined },
    signal?: AbortSignal,
  ) => {
    const query = { ...(robot_id !== undefined && { robot_id }), ...(cursor !== undefined && { cursor }) }
    return answerOf(rest.GET('/api/recordings', { params: { query }, ...(signal && { signal }) }))
  },
  remove: (id: string) => answerOf(rest.DELETE('/api/recordings/{id}', at(id))),
  bookmarks: (id: string) => answerOf(rest.GET('/api/recordings/{id}/bookmarks', at(id))),
  addBookmark: (id: string, body: { at: string; label: string }) =>
    answerOf(rest.POST('/api/recordings/{id}/bookmarks', { ...at(id), body })),
  removeBookmark: (id: string, bookmark: string) =>
    answerOf(
      rest.DELETE('/api/recordings/{id}/bookmarks/{bookmark}', { params: { path: { id, bookmark } } }),
    ),
  shares: (id: string) => answerOf(rest.GET('/api/recordings/{id}/shares', at(id))),
  share: (id: string, body: { expires_in_hours: number }) =>
    answerOf(rest.POST('/api/recordings/{id}/shares', { ...at(id), body })),
  revokeShare: (id: string, share: string) =>
    answerOf(rest.DELETE('/api/recordings/{id}/shares/{share}', { params: { path: { id, share } } })),
  downloads: (id: string) => answerOf(rest.GET('/api/recordings/{id}/downloads', at(id))),
  episodes: (id: string, signal?: AbortSignal) =>
    answerOf(rest.GET('/api/sessions/{id}/episodes', at(id, signal))),
  markEpisode: (id: string, body: { action: EpisodeAction; task?: string }) =>
    answerOf(rest.POST('/api/sessions/{id}/episodes', { ...at(id), body })),
  shared: (token: string) =>
    answerOf(rest.GET('/api/shared/recordings/{token}', { params: { path: { token } } })),
  sharedParts: (token: string) =>
    answerOf(rest.GET('/api/shared/recordings/{token}/parts', { params: { path: { token } } })),
})
