import type { Schemas } from '@wheelhouse/sdk'
import type { RecordingsApi } from '../recordings-api.ts'

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
export type RunningEpisode = Schemas['RunningEpisode']
/** The episodes of a session, and the one that runs. */
export type SessionEpisodes = Answer<'episodes'>

/** An episode that the replay shows. `ended_at` is null while it runs. */
export type RecordedEpisode = Pick<
  Schemas['Episode'],
  'id' | 'episode_id' | 'started_at' | 'success' | 'task' | 'source'
> & { readonly ended_at: string | null }
