import type { RecordedEpisode } from '../../recording/recordings.ts'
import { t } from '../../texts/texts.ts'

/** Returns the result of an episode in a word or two. */
export function episodeResult({ success, ended_at }: Pick<RecordedEpisode, 'success' | 'ended_at'>): string {
  if (ended_at === null) return t('replay.marks.running')
  if (success === null) return t('replay.marks.noResult')
  return success ? t('replay.marks.success') : t('replay.marks.failure')
}
