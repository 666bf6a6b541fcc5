import {
  EPISODE_TASK_MAX,
  EpisodeAction,
  EpisodeSource,
  idOf,
  KEPT_SECONDS,
  MAX_KEPT_SECONDS,
} from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'

/** Why an export leaves an episode out. */
export const NotExportable = z.enum(['no_recording', 'recording_not_ready', 'unfinished', 'gaps']).meta({
  description:
    'no_recording: the platform has none of its session. recording_not_ready: it is not finished, or has failed. unfinished: the session ended before the episode. gaps: the recording lacks more than one second of it.',
})
export type NotExportable = z.infer<typeof NotExportable>

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
    exportable_count: z
      .number()
      .int()
      .meta({ description: 'Episodes that an export contains by default.', examples: [213] }),
    not_exportable: z
      .array(z.object({ reason: NotExportable, count: z.number().int() }))
      .meta({ description: 'The other episodes, by reason.', examples: [[{ reason: 'gaps', count: 3 }]] }),
    size_mb: z.number().meta({ description: 'In megabytes.', examples: [6_130.5] }),
    updated_at: timestamp.meta({
      description: 'When the newest episode was stored.',
      examples: ['2026-11-20T09:52:10.000Z'],
    }),
  })
  .meta({ id: 'Dataset', description: 'The episodes that one robot has recorded.' })
export type DatasetView = z.infer<typeof DatasetView>

/** One episode of a dataset. The platform assigns `id`; the robot, or the platform for marked ones, assigns `episode_id`. */
export const EpisodeView = z
  .object({
    id: idOf('episode'),
    episode_id: z.string().meta({
      description: 'The id that the robot assigned; for an episode that was marked, one of the platform.',
      examples: ['run-000216'],
    }),
    session_id: idOf('session').nullable().meta({
      description: 'The session in which the episode started; null when it started outside a session.',
    }),
    started_at: timestamp.meta({ examples: ['2026-11-20T09:50:02.000Z'] }),
    ended_at: timestamp.meta({ examples: ['2026-11-20T09:51:58.000Z'] }),
    size_mb: z.number().meta({ description: 'In megabytes.', examples: [28.4] }),
    source: EpisodeSource.meta({
      description:
        'The side that defined the episode: the robot reported it, or a participant marked it on the platform.',
      examples: ['robot'],
    }),
    task: z
      .string()
      .nullable()
      .meta({ description: 'The task in words; null without one.', examples: [null] }),
    recording_id: idOf('recording')
      .nullable()
      .meta({
        description: "The recording of the episode's session; null without one.",
        examples: [null],
      }),
    success: z
      .boolean()
      .nullable()
      .meta({
        description: 'Whether the task succeeded; null when that is unknown.',
        examples: [true],
      }),
    not_exportable: NotExportable.nullable().meta({
      description: 'Why an export leaves it out by default; null if it can be exported.',
      examples: [null],
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
  .meta({ id: 'Episode', description: 'One episode of a dataset.' })
export type EpisodeView = z.infer<typeof EpisodeView>

/** Query of GET /api/client/datasets/{id}/episodes. */
export const ListEpisodes = z.strictObject({
  before: idOf('episode')
    .meta({ description: 'Returns only episodes that started before the episode with this id.' })
    .optional(),
  limit: queryInteger(1, 100).default(50),
})
export type ListEpisodes = z.infer<typeof ListEpisodes>

/** Body of POST /api/sessions/{id}/episodes. */
export const MarkEpisode = z.strictObject({
  action: EpisodeAction.meta({
    description:
      'start begins an episode, success and failure end it with that result, discard ends it without a trace in the dataset. keep makes an episode of the last seconds, whether or not one runs.',
    examples: ['start'],
  }),
  task: line(EPISODE_TASK_MAX)
    .meta({
      description: 'The task in words. At the end it replaces the task of the start.',
      examples: ['Pick up the cup'],
    })
    .optional(),
  seconds: z
    .number()
    .int()
    .min(1)
    .max(MAX_KEPT_SECONDS)
    .optional()
    .meta({
      description: `How many seconds keep makes an episode of; ${KEPT_SECONDS} by default.`,
      examples: [KEPT_SECONDS],
    }),
})
export type MarkEpisode = z.infer<typeof MarkEpisode>

const RunningEpisodeView = z
  .object({
    started_at: timestamp,
    task: z
      .string()
      .nullable()
      .meta({ examples: ['Pick up the cup'] }),
  })
  .meta({ id: 'RunningEpisode', description: 'An episode that has not ended.' })

/** Response of POST /api/sessions/{id}/episodes. */
export const MarkedEpisode = z.object({
  running: RunningEpisodeView.nullable().meta({
    description: 'The episode that runs now; null without one.',
  }),
  episode: EpisodeView.nullable().meta({
    description: 'The episode that has just ended; null for other actions.',
  }),
})
export type MarkedEpisode = z.infer<typeof MarkedEpisode>

/** Response of GET /api/sessions/{id}/episodes. */
export const SessionEpisodes = z.object({
  running: RunningEpisodeView.nullable(),
  episodes: z.array(EpisodeView),
})
export type SessionEpisodes = z.infer<typeof SessionEpisodes>
