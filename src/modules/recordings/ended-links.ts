import type { CoreServices } from '../../core/core-services.ts'

/** How long a link that has expired or was revoked stays in the list of links. */
const KEPT_MS = 30 * 24 * 3_600_000

/** Deletes links that ended a month ago, except those that the list of downloads names. */
export async function removeEndedLinks({ db, now }: Pick<CoreServices, 'db' | 'now'>): Promise<void> {
  const before = new Date(now().getTime() - KEPT_MS)
  await db
    .deleteFrom('recording_shares as share')
    .where(({ eb, or }) => or([eb('share.expires_at', '<', before), eb('share.revoked_at', '<', before)]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('recording_downloads as download')
            .select('download.id')
            .whereRef('download.recording_id', '=', 'share.recording_id')
            .whereRef('download.share_id', '=', 'share.id'),
        ),
      ),
    )
    .execute()
}
