import { answerOf, type RestClient } from '@wheelhouse/sdk'
import type {
  Bookmark,
  MarkEpisode,
  NewShare,
  Recording,
  RecordingDownload,
  RecordingPage,
  RecordingParts,
  RecordingShare,
  RunningEpisode,
  SessionEpisodes,
} from './data/api-types.ts'

type Method = 'get' | 'post' | 'delete'

interface Options {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** The part of the REST client that takes any path. */
interface AnyPathClient {
  request(
    method: Method,
    path: string,
    init: { params: object; body?: unknown; signal?: AbortSignal },
  ): Promise<{ data?: unknown; error?: unknown; response: Response }>
}

/** Sends a request. @throws ApiError for a refusal */
export async function send<T>(
  rest: RestClient,
  method: Method,
  path: string,
  { path: parameters = {}, query = {}, body, signal }: Options = {},
): Promise<T> {
  const client = rest as unknown as AnyPathClient
  const params = { path: parameters, query }
  return (await answerOf(
    client.request(method, path, { params, ...(body !== undefined && { body }), ...(signal && { signal }) }),
  )) as T
}

/** Creates the requests about recordings. */
export const createRecordingsApi = (rest: RestClient) => ({
  ofSession: (id: string, signal?: AbortSignal) =>
    send<Recording>(rest, 'get', '/api/sessions/{id}/recording', { path: { id }, signal }),
  parts: (id: string, signal?: AbortSignal) =>
    send<RecordingParts>(rest, 'get', '/api/recordings/{id}/parts', { path: { id }, signal }),
  list: (query: { robot_id?: string | undefined; cursor?: string | undefined }, signal?: AbortSignal) =>
    send<RecordingPage>(rest, 'get', '/api/recordings', { query, signal }),
  remove: (id: string) => send<undefined>(rest, 'delete', '/api/recordings/{id}', { path: { id } }),
  bookmarks: (id: string) =>
    send<{ bookmarks: Bookmark[] }>(rest, 'get', '/api/recordings/{id}/bookmarks', { path: { id } }),
  addBookmark: (id: string, body: { at: string; label: string }) =>
    send<Bookmark>(rest, 'post', '/api/recordings/{id}/bookmarks', { path: { id }, body }),
  removeBookmark: (id: string, bookmark: string) =>
    send<undefined>(rest, 'delete', '/api/recordings/{id}/bookmarks/{bookmark}', { path: { id, bookmark } }),
  shares: (id: string) =>
    send<{ shares: RecordingShare[] }>(rest, 'get', '/api/recordings/{id}/shares', { path: { id } }),
  share: (id: string, body: { expires_in_hours: number }) =>
    send<NewShare>(rest, 'post', '/api/recordings/{id}/shares', { path: { id }, body }),
  revokeShare: (id: string, share: string) =>
    send<undefined>(rest, 'delete', '/api/recordings/{id}/shares/{share}', { path: { id, share } }),
  downloads: (id: string) =>
    send<{ downloads: RecordingDownload[] }>(rest, 'get', '/api/recordings/{id}/downloads', {
      path: { id },
    }),
  episodes: (id: string, signal?: AbortSignal) =>
    send<SessionEpisodes>(rest, 'get', '/api/sessions/{id}/episodes', { path: { id }, signal }),
  markEpisode: (id: string, body: MarkEpisode) =>
    send<{ running: RunningEpisode | null }>(rest, 'post', '/api/sessions/{id}/episodes', {
      path: { id },
      body,
    }),
  shared: (token: string) =>
    send<Recording>(rest, 'get', '/api/shared/recordings/{token}', { path: { token } }),
  sharedParts: (token: string) =>
    send<RecordingParts>(rest, 'get', '/api/shared/recordings/{token}/parts', { path: { token } }),
})
