import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { StoredExportStatus } from '../../../core/exports/exports.ts'
import { timestamp } from '../../../core/http/fields.ts'
import { SessionFilter } from '../record/session.schema.ts'

const count = z.number().int()

/** Sessions that `POST /api/sessions/export` should download at most; larger exports are better stored. */
export const DIRECT_ROWS = 10_000

export const StoredExport = z
  .object({
    id: idOf('sessionExport'),
    format: z.enum(['csv', 'json']),
    filter: SessionFilter,
    status: StoredExportStatus,
    total_rows: count.meta({ description: 'Sessions at the time of the request.', examples: [48_210] }),
    rows: count.meta({ description: 'Sessions written so far.', examples: [48_210] }),
    bytes: count.meta({ description: 'Size so far, as downloaded.', examples: [9_642_000] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed; null unless FAILED.', examples: [null] }),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    expires_at: timestamp.meta({ description: 'When the platform deletes it.' }),
  })
  .meta({
    id: 'StoredExport',
    description: 'An export of sessions that the platform writes in the background.',
  })
export type StoredExport = z.infer<typeof StoredExport>

export const StoredExportList = z.object({ exports: z.array(StoredExport) })

/** Response of POST /api/session-exports/count. */
export const ExportCount = z
  .object({
    rows: count.meta({ description: 'At most 1,000,001.', examples: [48_210] }),
    direct: z.boolean().meta({
      description: `Whether POST /api/sessions/export is the better way: at most ${DIRECT_ROWS} sessions match.`,
      examples: [false],
    }),
  })
  .meta({
    id: 'ExportCount',
    description: 'How many sessions an export has.',
    examples: [{ rows: 48_210, direct: false }],
  })
