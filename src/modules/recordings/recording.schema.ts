import { exampleIds, GapReason, idOf, RecordingMode, RecordingStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../core/http/cursor.ts'
import { queryInteger, timestamp } from '../../core/http/fields.ts'

const bytes = z
  .number()
  .int()
  .meta({ examples: [48_211_904] })

/** A period that a recording lacks. */
export const GapView = z
  .object({
    from: timestamp,
    to: timestamp,
    reason: GapReason.meta({ description: 'Why nothing was recorded.', examples: ['storage_unavailable'] }),
  })
  .meta({ id: 'RecordingGap', description: 'A period that a recording lacks.' })
export type GapView = z.infer<typeof GapView>

const ChannelView = z.object({
  topic: z.string().meta({ examples: ['/control'] }),
  schema: z.string().meta({ examples: ['wheelhouse.Control'] }),
  messages: z
    .number()
    .int()
    .meta({ examples: [14_902] }),
})

/** The recording of one session. */
export const RecordingView = z
  .object({
    id: idOf('recording'),
    session_id: idOf('session'),
    robot_id: idOf('robot'),
    robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    mode: RecordingMode.exclude(['off']).meta({
      description: 'The content: control and telemetry, or these with the cameras.',
      examples: ['video'],
    }),
    status: RecordingStatus.meta({
      description:
        'RECORDING while the session is open, FINISHING while its parts become one file, then READY. FAILED after repeated ' +
        'failures of that; a later attempt can still make it READY.',
      examples: ['READY'],
    }),
    paused_reason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why nothing is recorded now, although the session is open: `off` when the owner has turned it off, otherwise the ' +
          'reason of a gap; null while it is recorded.',
        examples: [null],
      }),
    started_at: timestamp,
    ended_at: timestamp
      .nullable()
      .meta({ description: 'When its last data was recorded; null while it is recorded.' }),
    expires_at: timestamp.nullable().meta({
      description: "When it is deleted, by the owner's policy; null: it is kept.",
      examples: [null],
    }),
    size_bytes: bytes,
    segments: z
      .number()
      .int()
      .meta({ description: 'The number of parts that were stored.', examples: [186] }),
    gaps: z.array(GapView).meta({
      description:
        'The newest 1,000 gaps, in the order of their times; in a list of recordings the newest 100.',
    }),
    channels: z.array(ChannelView).meta({ description: 'The topics of the file; empty until it is READY.' }),
    file_url: z
      .string()
      .nullable()
      .meta({
        description: 'Address of the MCAP file; null until it is READY.',
        examples: [`/api/recordings/${exampleIds.recording}/file`],
      }),
  })
  .meta({ id: 'Recording', description: 'The recording of a session.' })
export type RecordingView = z.infer<typeof RecordingView>

/** Query of GET /api/recordings. */
export const ListRecordings = z.strictObject({
  robot_id: idOf('robot').optional(),
  cursor: queryCursor
    .meta({ description: 'The `next_cursor` of the previous page: returns the recordings after it.' })
    .optional(),
  limit: queryInteger(1, 100).default(50),
})
export type ListRecordings = z.infer<typeof ListRecordings>

export const RecordingList = z.object({
  recordings: z.array(RecordingView),
  next_cursor: z
    .string()
    .nullable()
    .meta({ examples: [null] }),
  used_bytes: z
    .number()
    .int()
    .meta({ description: 'Bytes of all your recordings, as an owner.', examples: [9_663_676_416] }),
  quota_bytes: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'The bytes that you may store; null for no limit.', examples: [50_000_000_000] }),
})

/** A part of a recording that can be read now: a complete MCAP file. */
export const RecordingParts = z.object({
  complete: z
    .boolean()
    .meta({ description: 'Whether the recording is READY, so that one part is all of it.' }),
  truncated: z.boolean().meta({
    description:
      'Whether the oldest segments are left out: a list has the newest 5,000. The finished file has all of them.',
    examples: [false],
  }),
  parts: z.array(
    z.object({
      url: z.string().meta({ examples: [`/api/recordings/${exampleIds.recording}/file`] }),
      source: z.string().meta({ description: '`all`, `gateway`, or `camera/<name>`.', examples: ['all'] }),
      from: timestamp,
      to: timestamp,
      size_bytes: bytes,
    }),
  ),
})
export type RecordingParts = z.infer<typeof RecordingParts>
