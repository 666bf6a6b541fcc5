import type { ToolSpec } from './tool.ts'

/** Entries of a list within a response. */
const LONGEST_LIST = 50

/** Tools that read recordings, episodes and exports. No tool downloads, shares or deletes one, or marks an episode. */
export const recordingTools: readonly ToolSpec[] = [
  {
    name: 'list_recordings',
    title: 'List recordings',
    route: 'GET /api/recordings',
    limit: 10,
    hidden: ['gaps', 'channels', 'file_url'],
  },
  {
    name: 'get_recording',
    title: 'Read a recording',
    route: 'GET /api/recordings/{id}',
    id: 'recordingId',
    description: 'Shows a recording, its topics, and the periods that it lacks.',
    hidden: ['file_url'],
    shortened: { gaps: LONGEST_LIST, channels: LONGEST_LIST },
  },
  {
    name: 'list_session_episodes',
    title: 'List episodes of a session',
    route: 'GET /api/sessions/{id}/episodes',
    id: 'sessionId',
    listField: 'episodes',
  },
  {
    name: 'list_dataset_exports',
    title: 'List exported datasets',
    route: 'GET /api/client/datasets/exports',
    listField: 'exports',
    hidden: ['base_url'],
  },
]
