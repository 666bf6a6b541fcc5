import { z } from 'zod'
import { EPISODE_TASK_MAX } from './recordings.ts'

/** Longest `episode_id`, in characters. */
export const EPISODE_ID_MAX = 200
/** Longest `uri`, in characters. */
export const EPISODE_URI_MAX = 2_000
/** The last millisecond of the year 9999. A later time means a broken clock. */
const LATEST_MS = 253_402_300_799_999

/** Unix milliseconds. Fractions are valid, because many clocks return them. */
const episodeTime = z.number().min(0).max(LATEST_MS)

/** The robot's own name for an episode: visible characters and spaces, well-formed. */
export const EpisodeId = z
  .string()
  .min(1)
  .max(EPISODE_ID_MAX)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u, 'must be printable characters')

/** The task in words: visible characters and spaces, well-formed. */
const EpisodeTask = z
  .string()
  .min(1)
  .max(EPISODE_TASK_MAX)
  .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u, 'must be plain text on one line')

/** Location of the recording. The platform stores and shows it, and never opens it. */
export const EpisodeUri = z
  .string()
  .max(EPISODE_URI_MAX)
  .regex(
    /^(?:https?|s3|gs|az|hdfs|sftp|file):\/\/[\x21-\x7e]+$/i,
    'must be a URI of the scheme http, https, s3, gs, az, hdfs, sftp or file',
  )

/** A recording of a robot. The robot may send it again until it is acknowledged; the platform counts it once. */
export const Episode = z
  .looseObject({
    type: z.literal('episode'),
    episode_id: EpisodeId,
    started_at: episodeTime,
    ended_at: episodeTime,
    size_bytes: z.number().int().min(0),
    /** Whether the robot considers the task done. */
    success: z.boolean().optional(),
    uri: EpisodeUri.optional(),
    task: EpisodeTask.optional(),
    /** The robot's clock when it sends the frame: the one that `started_at` and `ended_at` are of. It may be wrong. */
    t: episodeTime.optional(),
  })
  .refine(({ started_at, ended_at }) => ended_at >= started_at, {
    error: 'must not be before started_at',
    path: ['ended_at'],
  })
export type Episode = z.infer<typeof Episode>

/** Confirms that the platform has stored the episode. */
export const EpisodeAck = z.looseObject({ type: z.literal('episode_ack'), episode_id: z.string() })
