import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { timestamp } from '../../core/http/fields.ts'
import { NotExportable } from './dataset.schema.ts'

/** Episodes that an export names. It counts the others. */
const MAX_NAMED = 100

/** The episodes of a request that an export leaves out. */
export const LeftOut = z
  .object({
    count: z
      .number()
      .int()
      .meta({ examples: [1] }),
    episodes: z.array(
      z.object({
        id: idOf('episode'),
        episode_id: z.string().meta({ examples: ['run-000217'] }),
        started_at: timestamp.meta({ examples: ['2026-11-20T09:53:02.000Z'] }),
        reason: NotExportable.meta({ examples: ['gaps'] }),
        missing_seconds: z
          .number()
          .meta({ description: 'How much of it the recording lacks.', examples: [88] }),
      }),
    ),
  })
  .meta({
    description: 'The episodes of the request that are not in the dataset: their number, and the first 100.',
  })
export type LeftOut = z.infer<typeof LeftOut>

/** Lists the episodes that cannot be exported, in their order. */
export function leftOutOf(
  rows: readonly {
    readonly id: string
    readonly episode_id: string
    readonly started_at: Date
    readonly reason: NotExportable | null
    readonly missing_seconds: number
  }[],
): LeftOut {
  const leftOut = rows.flatMap(({ id, episode_id, started_at, reason, missing_seconds }) =>
    reason === null ? [] : { id, episode_id, started_at: iso(started_at), reason, missing_seconds },
  )
  return { count: leftOut.length, episodes: leftOut.slice(0, MAX_NAMED) }
}
