import { z } from 'zod'

/** Longest `episode_id`, in characters. */
export const EPISODE_ID_MAX = 200
/** Longest `uri`, in characters. */
export const EPISODE_URI_MAX = 2_000
/** The last millisecond of the year 9999: what comes later is a broken clock. */
const LATEST_MS = 253_402_300_799_999

/** Unix milliseconds. Fractions are let in, since many clocks give them. */
const episodeTime = z.number().min(0).max(LATEST_MS)

/** The robot's own name for an episode: visible characters and spaces, well-formed. */
export const EpisodeId = z
  .string()
  .min(1)
  .max(EPISODE_ID_MAX)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u, 'must be printable characters')

/** Where the recording lies. It is kept and shown; the platform never opens it. */
export const EpisodeUri = z
  .string()
  .max(EPISODE_URI_MAX)
  .regex(
    /^(?:https?|s3|gs|az|hdfs|sftp|file):\/\/[\x21-\x7e]+$/i,
    'must be a URI of the scheme http, https, s3, gs, az, hdfs, sftp or file',
  )

/** A recording of what a robot did. It may be sent again until it is acknowledged, and is counted once. */
export const Episode = z
  .looseObject({
    type: z.literal('episode'),
    episode_id: EpisodeId,
    started_at: episodeTime,
    ended_at: episodeTime,
    size_bytes: z.number().int().min(0),
    /** Whether the task was done, as far as the robot knows. */
    success: z.boolean().optional(),
    uri: EpisodeUri.optional(),
  })
  .refine(({ started_at, ended_at }) => ended_at >= started_at, {
    error: 'must not lie before started_at',
    path: ['ended_at'],
  })
export type Episode = z.infer<typeof Episode>

/** The episode is stored for good. */
export const EpisodeAck = z.looseObject({ type: z.literal('episode_ack'), episode_id: z.string() })
