import type { Recording, RecordingParts } from '../recording/recordings.ts'
import { gapText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { dateTime } from '../ui/format.ts'
import styles from './view/replay.module.css'

interface RecordingNoticeProps {
  readonly recording: Recording
  readonly parts: RecordingParts
}

/** Says what a viewer must know about the recording as a whole; nothing for most. */
export function RecordingNotice({ recording, parts }: RecordingNoticeProps) {
  const lines = linesOf(recording, parts)
  if (lines.length === 0) return null
  return (
    <div className={styles.notice} role="status">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have a fixed order
        <div key={index}>{line}</div>
      ))}
    </div>
  )
}

function linesOf({ status, paused_reason }: Recording, { truncated, parts: [first] }: RecordingParts) {
  return [
    ...(status === 'FAILED' ? [t('replay.notice.failed')] : []),
    ...(status === 'FINISHING' ? [t('replay.notice.finishing')] : []),
    ...(status === 'RECORDING' && paused_reason !== null
      ? [t('replay.notice.interrupted', { reason: gapText(paused_reason) })]
      : []),
    ...(truncated && first ? [t('replay.notice.truncated', { from: dateTime(first.from) })] : []),
  ]
}
