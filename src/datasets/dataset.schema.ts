import { z } from 'zod'
import { queryInteger, timestamp } from '../http/fields.ts'

/** What one robot has recorded. */
export const DatasetView = z.object({
  id: z.uuid(),
  robot_id: z.uuid(),
  robot_name: z.string(),
  robot_type: z.string(),
  episode_count: z.number().int(),
  size_mb: z.number(),
  updated_at: timestamp,
})
export type DatasetView = z.infer<typeof DatasetView>

/** One recording of a dataset. `id` is the platform's, `episode_id` the robot's. */
export const EpisodeView = z.object({
  id: z.uuid(),
  episode_id: z.string(),
  session_id: z.uuid().nullable(),
  started_at: timestamp,
  ended_at: timestamp,
  size_mb: z.number(),
  success: z.boolean().nullable(),
  uri: z.string().nullable(),
  created_at: timestamp,
})
export type EpisodeView = z.infer<typeof EpisodeView>

/** Query of GET /api/client/datasets/{id}/episodes: episodes that began before the episode with the id `before`. */
export const ListEpisodes = z.strictObject({
  before: z.uuid().optional(),
  limit: queryInteger(1, 100).default(50),
})
export type ListEpisodes = z.infer<typeof ListEpisodes>
