import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryInteger, timestamp } from '../../core/http/fields.ts'

/** What one robot has recorded. */
export const DatasetView = z
  .object({
    id: idOf('dataset'),
    robot_id: idOf('robot'),
    robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    episode_count: z
      .number()
      .int()
      .meta({ examples: [216] }),
    size_mb: z.number().meta({ description: 'In megabytes.', examples: [6_130.5] }),
    updated_at: timestamp.meta({
      description: 'When its newest episode was stored.',
      examples: ['2026-11-20T09:52:10.000Z'],
    }),
  })
  .meta({ id: 'Dataset', description: 'What one robot has recorded.' })
export type DatasetView = z.infer<typeof DatasetView>

/** One recording of a dataset. `id` is the platform's, `episode_id` the robot's. */
export const EpisodeView = z
  .object({
    id: idOf('episode'),
    episode_id: z.string().meta({ description: "The robot's own name for it.", examples: ['run-000216'] }),
    session_id: idOf('session')
      .nullable()
      .meta({ description: 'The session in which it began; null when it began in none.' }),
    started_at: timestamp.meta({ examples: ['2026-11-20T09:50:02.000Z'] }),
    ended_at: timestamp.meta({ examples: ['2026-11-20T09:51:58.000Z'] }),
    size_mb: z.number().meta({ description: 'In megabytes.', examples: [28.4] }),
    success: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether the task was done, as far as the robot knows.', examples: [true] }),
    uri: z
      .string()
      .nullable()
      .meta({
        description: 'Where the recording lies, as the robot says; never opened by the platform.',
        examples: ['s3://lovelace-episodes/run-000216.mcap'],
      }),
    created_at: timestamp.meta({ examples: ['2026-11-20T09:52:10.000Z'] }),
  })
  .meta({ id: 'Episode', description: 'One recording of a dataset.' })
export type EpisodeView = z.infer<typeof EpisodeView>

/** Query of GET /api/client/datasets/{id}/episodes: episodes that began before the episode with the id `before`. */
export const ListEpisodes = z.strictObject({
  before: idOf('episode').meta({ description: 'Episodes that began before this one.' }).optional(),
  limit: queryInteger(1, 100).default(50),
})
export type ListEpisodes = z.infer<typeof ListEpisodes>
