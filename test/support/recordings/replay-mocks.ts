import type { Page, Route } from 'playwright-core'
import type {
  Bookmark,
  Recording,
  RecordingPart,
  RecordingParts,
  RecordingShare,
  SessionEpisodes,
} from '../../../packages/console/src/recording/recordings.ts'

const RECORDING_ID = '6e2f9b40-81d5-4c7a-b396-f04a7d1e58c2'
const USER_ID = 'd21f6b80-94c3-4e7a-b5d8-0f3a7e62c915'
const HOUR_MS = 3_600_000

const iso = (atMs: number) => new Date(Math.floor(atMs)).toISOString()

/** Returns a finished recording of a number of seconds. */
export const testRecording = (startMs: number, seconds: number): Recording => ({
  id: RECORDING_ID,
  session_id: '',
  robot_id: '',
  robot_name: 'Ronja',
  mode: 'video',
  status: 'READY',
  paused_reason: null,
  started_at: iso(startMs),
  ended_at: iso(startMs + seconds * 1_000),
  expires_at: null,
  size_bytes: 12_300_000,
  segments: 4,
  gaps: [],
  channels: [],
  file_url: `/api/recordings/${RECORDING_ID}/file`,
})

/** Describes a part of a recording from its first to its last second. */
export const testPart = (
  url: string,
  file: { readonly length: number },
  startMs: number,
  [from, to]: readonly [number, number],
): RecordingPart => ({
  url,
  source: 'all',
  from: iso(startMs + from * 1_000),
  to: iso(startMs + to * 1_000),
  size_bytes: file.length,
})

export interface ReplayMocks {
  /** Null answers 404. */
  recording: Recording | null
  parts: RecordingParts
  bookmarks: Bookmark[]
  episodes: SessionEpisodes
  shares: RecordingShare[]
  removed: boolean
}

/** Answers the requests of a page about one recording. */
export async function mockRecording(page: Page, mocks: ReplayMocks): Promise<void> {
  const json = (route: Route, body: unknown, status = 200) =>
    route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) })
  const missing = (route: Route) =>
    json(route, { error: 'There is no such recording.', code: 'not_found' }, 404)
  const answer = (path: string, handle: (route: Route) => unknown) =>
    page.route(
      (url) => new RegExp(`^/api/${path}$`).test(url.pathname),
      (route) => void handle(route),
    )
  await answer('sessions/[^/]+/recording', (route) =>
    mocks.recording ? json(route, mocks.recording) : missing(route),
  )
  await answer('sessions/[^/]+/episodes', (route) => {
    if (route.request().method() === 'POST') markEpisode(mocks, route.request().postDataJSON())
    return json(route, mocks.episodes)
  })
  await answer('recordings/[^/]+', (route) => {
    if (route.request().method() === 'DELETE') mocks.removed = true
    return route.fulfill({ status: 204 })
  })
  await answer('recordings/[^/]+/parts', (route) => json(route, mocks.parts))
  await answer('recordings/[^/]+/downloads', (route) =>
    json(route, {
      downloads: [
        { user_id: USER_ID, user_name: 'Olive', kind: 'file', at: iso(Date.now() - HOUR_MS), share_id: null },
        { user_id: null, user_name: null, kind: 'replay', at: iso(Date.now()), share_id: USER_ID },
      ],
    }),
  )
  await answer('recordings/[^/]+/bookmarks', (route) => {
    if (route.request().method() !== 'POST') return json(route, { bookmarks: mocks.bookmarks })
    const { at, label } = route.request().postDataJSON() as { at: string; label: string }
    const author = { user_id: USER_ID, user_name: 'Grace' }
    const bookmark = { id: crypto.randomUUID(), at, label, ...author, created_at: iso(Date.now()) }
    mocks.bookmarks.push(bookmark)
    return json(route, bookmark, 201)
  })
  await answer('recordings/[^/]+/shares', (route) => {
    if (route.request().method() !== 'POST') return json(route, { shares: mocks.shares })
    const { expires_in_hours, ...unknown } = route.request().postDataJSON() as { expires_in_hours: number }
    if (Object.keys(unknown).length > 0) return json(route, { error: 'The request is not valid.' }, 400)
    const expires_at = iso(Date.now() + expires_in_hours * HOUR_MS)
    const id = crypto.randomUUID()
    const created = { created_by: USER_ID, created_at: iso(Date.now()) }
    mocks.shares.push({ id, ...created, expires_at, revoked_at: null })
    return json(route, { id, url: `https://hub.example/replay/${id}`, expires_at }, 201)
  })
  await answer('recordings/[^/]+/shares/[^/]+', (route) => {
    mocks.shares = mocks.shares.map((share) => ({ ...share, revoked_at: iso(Date.now()) }))
    return route.fulfill({ status: 204 })
  })
  await answer('shared/recordings/[^/]+', (route) =>
    mocks.recording ? json(route, mocks.recording) : missing(route),
  )
  await answer('shared/recordings/[^/]+/parts', (route) => json(route, mocks.parts))
}

/** Starts or ends an episode, as the platform does. */
function markEpisode(
  mocks: ReplayMocks,
  { action, task = null }: { action: string; task?: string | null },
): void {
  const { running, episodes } = mocks.episodes
  const now = new Date().toISOString()
  if (action === 'start') mocks.episodes = { running: { started_at: now, task }, episodes }
  else if (running) {
    const id = String(episodes.length + 1)
    const ended = {
      ...running,
      id,
      episode_id: id,
      not_exportable: 'recording_not_ready' as const,
      session_id: null,
      recording_id: RECORDING_ID,
      ended_at: now,
      created_at: now,
      size_mb: 0,
      source: 'platform' as const,
      uri: null,
    }
    const all = action === 'discard' ? episodes : [...episodes, { ...ended, success: action === 'success' }]
    mocks.episodes = { running: null, episodes: all }
  }
}
