import type { Schemas } from '@wheelhouse/sdk'
import { t } from '../texts/texts.ts'

type Reason = Schemas['DatasetExport']['left_out']['episodes'][number]['reason']

const texts: Readonly<Record<Reason, string>> = {
  no_recording: t('data.reasons.no_recording'),
  recording_not_ready: t('data.reasons.recording_not_ready'),
  unfinished: t('data.reasons.unfinished'),
  gaps: t('data.reasons.gaps'),
}

/** Returns why an episode is not exported. */
export const reasonText = (reason: Reason): string => texts[reason]
