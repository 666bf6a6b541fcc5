import { t } from '../../texts/texts.ts'
import { messageOf } from '../../ui/message-of.ts'
import type { StopResult } from './fleet-stop.ts'

/** Returns the result of a stop as a sentence. */
export function stopResultText(result: StopResult): string {
  if (result.phase === 'rejected') return t('live.stop.rejected', { error: messageOf(result.error) })
  return result.phase === 'requested' ? t('live.stop.requested') : t('live.stop.recorded')
}
