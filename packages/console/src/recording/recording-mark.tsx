import { Box, Group, Text } from '@mantine/core'
import { RecordingMode, type RecordingStatus } from '@wheelhouse/protocol'
import { dataSize } from '../base/format.ts'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel } from '../status/state-label.tsx'
import { gapText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { recordedText } from './recording-texts.ts'
import { type Recording, useSessionRecording } from './recordings.ts'

type MarkedRecording = Pick<Recording, 'mode' | 'status' | 'paused_reason'>

const isOff = ({ paused_reason }: MarkedRecording) => paused_reason === 'off'

/** Returns why a session that should be recorded is not recorded now; undefined if it is. */
export function interruptionText(recording: MarkedRecording | null | undefined): string | undefined {
  if (recording?.status !== 'RECORDING' || recording.paused_reason === null || isOff(recording))
    return undefined
  return t('recording.mark.interrupted', { reason: gapText(recording.paused_reason) })
}

/**
 * Shows that a session is recorded, and what. Shows nothing for a session that is not recorded.
 * @param props.isUnknown whether the page has no news, so that the recording may have been interrupted
 */
export function RecordingMarkView(props: {
  recording: MarkedRecording | null | undefined
  isUnknown?: boolean
}) {
  const { recording, isUnknown = false } = props
  if (recording?.status !== 'RECORDING' || isOff(recording)) return null
  const interruption = interruptionText(recording)
  const explanation = interruption ?? t('recording.mark.explanation', { what: recordedText(recording.mode) })
  const text = isUnknown ? t('recording.mark.unknownText') : explanation
  return (
    <Group
      component="span"
      display="inline-flex"
      flex="none"
      gap={5}
      fz="xs"
      fw={700}
      lh={1.4}
      lts="0.04em"
      style={{ whiteSpace: 'nowrap' }}
      role="img"
      aria-label={text}
      title={text}
      data-testid="recording-mark"
    >
      {isUnknown ? (
        t('recording.mark.unknown')
      ) : (
        <>
          <Box
            component="span"
            w="0.6rem"
            h="0.6rem"
            bdrs="50%"
            bg={interruption === undefined ? '#e03131' : undefined}
            bd={interruption === undefined ? undefined : '2px solid #f59f00'}
          />
          {interruption === undefined ? t('recording.mark.rec') : t('recording.mark.paused')}
          {recording.mode === 'video' && interruption === undefined && (
            <Text span inherit fw={400} lts={0} data-what>
              {t('recording.mark.video')}
            </Text>
          )}
        </>
      )}
    </Group>
  )
}

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

const statuses: Readonly<Record<RecordingStatus, readonly [string, ShapeName]>> = {
  RECORDING: [t('replay.status.recording'), 'live'],
  FINISHING: [t('replay.status.finishing'), 'off'],
  READY: [t('replay.status.ready'), 'off'],
  FAILED: [t('replay.status.failed'), 'delayed'],
}

/** Shows the state of a recording, also that nothing is stored at present. */
export function RecordingStatusLabel({
  recording,
}: {
  recording: Pick<Recording, 'status' | 'paused_reason'>
}) {
  const { status, paused_reason } = recording
  if (status === 'RECORDING' && paused_reason !== null)
    return <StateLabel shape="delayed">{t('replay.status.interrupted')}</StateLabel>
  const [text, shape] = statuses[status]
  return <StateLabel shape={shape}>{text}</StateLabel>
}

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
