import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryInteger, timestamp } from '../../core/http/fields.ts'

/** The episodes of one robot, summed up. */
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
      description: 'When the newest episode was stored.',
      examples: ['2026-11-20T09:52:10.000Z'],
    }),
  })
  .meta({ id: 'Dataset', description: 'The episodes that one robot has recorded.' })
export type DatasetView = z.infer<typeof DatasetView>

/** One recording of a dataset. The platform assigns `id`, the robot assigns `episode_id`. */
export const EpisodeView = z
  .object({
    id: idOf('episode'),
    episode_id: z.string().meta({ description: 'The id that the robot assigned.', examples: ['run-000216'] }),
    session_id: idOf('session').nullable().meta({
      description: 'The session in which the episode started; null when it started outside a session.',
    }),
    started_at: timestamp.meta({ examples: ['2026-11-20T09:50:02.000Z'] }),
    ended_at: timestamp.meta({ examples: ['2026-11-20T09:51:58.000Z'] }),
    size_mb: z.number().meta({ description: 'In megabytes.', examples: [28.4] }),
    success: z
      .boolean()
      .nullable()
      .meta({
        description: 'Whether the task succeeded, as the robot reported; null when it did not report it.',
        examples: [true],
      }),
    uri: z
      .string()
      .nullable()
      .meta({
        description: 'Address of the recording, as the robot reported it. The platform never opens it.',
        examples: ['s3://lovelace-episodes/run-000216.mcap'],
      }),
    created_at: timestamp.meta({ examples: ['2026-11-20T09:52:10.000Z'] }),
  })
  .meta({ id: 'Episode', description: 'One recording of a dataset.' })
export type EpisodeView = z.infer<typeof EpisodeView>

/** Query of GET /api/client/datasets/{id}/episodes. */
export const ListEpisodes = z.strictObject({
  before: idOf('episode')
    .meta({ description: 'Returns only episodes that started before the episode with this id.' })
    .optional(),
  limit: queryInteger(1, 100).default(50),
})
export type ListEpisodes = z.infer<typeof ListEpisodes>
