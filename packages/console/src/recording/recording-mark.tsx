import { Group, Text } from '@mantine/core'
import { RecordingMode } from '@wheelhouse/protocol'
import { dataSize } from '../base/format.ts'
import { gapText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import styles from './recording-mark.module.css'
import { RecordingStatusLabel } from './recording-status.tsx'
import { recordedText } from './recording-texts.ts'
import type { Recording } from './recordings.ts'
import { useSessionRecording } from './use-recordings.ts'

type MarkedRecording = Pick<Recording, 'mode' | 'status' | 'paused_reason'>

/** Returns whether the owner has turned the recording of a session off. */
const isOff = ({ paused_reason }: MarkedRecording) => paused_reason === 'off'

/** Returns why a session that should be recorded is not recorded now; undefined if it is. */
export function interruptionText(recording: MarkedRecording | null | undefined): string | undefined {
  if (recording?.status !== 'RECORDING' || recording.paused_reason === null || isOff(recording))
    return undefined
  return t('recording.mark.interrupted', { reason: gapText(recording.paused_reason) })
}

export interface RecordingMarkProps {
  readonly recording: MarkedRecording | null | undefined
  /** Whether the page has no news, so that the recording may have been interrupted. */
  readonly isUnknown?: boolean
}

/** Shows that a session is recorded, and what. Shows nothing for a session that is not recorded. */
export function RecordingMarkView({ recording, isUnknown = false }: RecordingMarkProps) {
  if (recording?.status !== 'RECORDING' || isOff(recording)) return null
  if (isUnknown) return <UnknownMark />
  const interruption = interruptionText(recording)
  const text = interruption ?? t('recording.mark.explanation', { what: recordedText(recording.mode) })
  return (
    <span className={styles.mark} role="img" aria-label={text} title={text} data-testid="recording-mark">
      <span className={styles.dot} data-interrupted={interruption !== undefined} />
      {interruption === undefined ? t('recording.mark.rec') : t('recording.mark.paused')}
      {recording.mode === 'video' && interruption === undefined && (
        <span className={styles.what} data-what>
          {t('recording.mark.video')}
        </span>
      )}
    </span>
  )
}

const UnknownMark = () => (
  <span
    className={styles.mark}
    role="img"
    aria-label={t('recording.mark.unknownText')}
    title={t('recording.mark.unknownText')}
    data-testid="recording-mark"
  >
    {t('recording.mark.unknown')}
  </span>
)

/** Shows whether a session is recorded now. @param props.isUnknown whether the page has no news */
export function RecordingMark({ sessionId, isUnknown }: { sessionId: string; isUnknown: boolean }) {
  const recording = useSessionRecording(sessionId).data
  const reason = isUnknown ? undefined : interruptionText(recording)
  return (
    <>
      <RecordingMarkView recording={recording} isUnknown={isUnknown} />
      {reason !== undefined && (
        <Text size="sm" span role="status">
          {reason}
        </Text>
      )}
    </>
  )
}

/** Says what was recorded of a session. */
export function RecordingLine({ recording }: { recording: Recording }) {
  const { mode, size_bytes, gaps } = recording
  return (
    <Group gap="sm">
      <RecordingStatusLabel recording={recording} />
      <Text>
        {t('recording.section.content', {
          what: recordedText(mode),
          size: dataSize(size_bytes / 1_000_000),
        })}
        {gaps.length > 0 && ` · ${t('replay.header.gaps', { count: gaps.length })}`}
      </Text>
    </Group>
  )
}

/** Returns what a robot's sessions are recorded as; undefined for a platform without recordings. */
export const recordingModeOf = (robot: object): RecordingMode | undefined =>
  'recording' in robot ? RecordingMode.safeParse(robot.recording).data : undefined
