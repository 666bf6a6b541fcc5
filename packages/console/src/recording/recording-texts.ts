import { RecordingMode } from '@wheelhouse/protocol'
import { t } from '../texts/texts.ts'

const modeTexts: Readonly<Record<RecordingMode, string>> = {
  off: t('recording.what.off'),
  control: t('recording.what.control'),
  video: t('recording.what.video'),
}

/** Returns what a recording contains, for the end of a sentence. An unknown mode contains everything. */
export const recordedText = (mode: unknown): string =>
  modeTexts[RecordingMode.safeParse(mode).data ?? 'video']

const labels: Readonly<Record<RecordingMode, string>> = {
  off: t('recording.fields.off'),
  control: t('recording.fields.control'),
  video: t('recording.fields.video'),
}

export const recordedLabel = (mode: RecordingMode): string => labels[mode]
