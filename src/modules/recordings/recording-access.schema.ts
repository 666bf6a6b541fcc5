import { exampleIds, idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, timestamp } from '../../core/http/fields.ts'

/** A read of a recording. */
export const DownloadView = z
  .object({
    user_id: idOf('operator').nullable().meta({ description: 'The reader; null for one with a link.' }),
    user_name: z
      .string()
      .nullable()
      .meta({ examples: ['Grace'] }),
    share_id: idOf('recordingShare').nullable().meta({ description: 'The link that was used.' }),
    kind: z.enum(['file', 'replay', 'export', 'foxglove']).meta({
      description:
        'A download of the file, a replay in the console, an export of a dataset, or a playback in Foxglove.',
      examples: ['file'],
    }),
    at: timestamp,
  })
  .meta({ id: 'RecordingDownload', description: 'A read of a recording.' })
export type DownloadView = z.infer<typeof DownloadView>

/** Body of POST /api/recordings/{id}/shares. */
export const CreateShare = z.strictObject({
  expires_in_hours: z
    .number()
    .int()
    .min(1)
    .max(24 * 90)
    .default(72)
    .meta({ description: 'Hours until the link expires.', examples: [72] }),
})

/** A link to a recording, without its token. */
export const ShareView = z
  .object({
    id: idOf('recordingShare'),
    created_by: idOf('client'),
    created_at: timestamp,
    expires_at: timestamp,
    revoked_at: timestamp.nullable().meta({ examples: [null] }),
  })
  .meta({ id: 'RecordingShare', description: 'A link with which anyone can replay a recording.' })
export type ShareView = z.infer<typeof ShareView>

export const CreatedShare = ShareView.extend({
  url: z.string().meta({
    description: 'The address of the replay. It is shown only once.',
    examples: ['https://hub.example.com/replay/9b1c…'],
  }),
}).meta({ id: 'CreatedRecordingShare', description: 'A new link to a recording.' })

/** Body of POST /api/recordings/{id}/bookmarks. */
export const CreateBookmark = z.strictObject({
  at: timestamp.meta({ description: 'The moment in the recording.' }),
  label: line(200).meta({ examples: ['The gripper slips'] }),
})

export const BookmarkView = z
  .object({
    id: idOf('bookmark'),
    user_id: idOf('operator'),
    user_name: z
      .string()
      .nullable()
      .meta({ examples: ['Grace'] }),
    at: timestamp,
    label: z.string().meta({ examples: ['The gripper slips'] }),
    created_at: timestamp,
  })
  .meta({ id: 'RecordingBookmark', description: 'A marked moment of a recording.' })

export const ShareParams = z.strictObject({ id: idOf('recording'), share: idOf('recordingShare') })
export const BookmarkParams = z.strictObject({ id: idOf('recording'), bookmark: idOf('bookmark') })
export const SegmentParams = z.strictObject({
  id: idOf('recording'),
  stream: idOf('recordingStream'),
  number: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .meta({ examples: ['0'] }),
})
export const TokenParams = z.strictObject({
  token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{20,100}$/, 'must be the token of a link')
    .meta({ examples: [exampleIds.recordingShare.replaceAll('-', '')] }),
})
