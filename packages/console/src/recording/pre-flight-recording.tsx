import { Alert, Text } from '@mantine/core'
import { RecordingMode } from '@wheelhouse/protocol'
import { t } from '../texts/texts.ts'
import { recordedText } from './recording-texts.ts'

/** Returns what a robot's sessions are recorded as; undefined for a platform without recordings. */
export const recordingModeOf = (robot: object): RecordingMode | undefined =>
  'recording' in robot ? RecordingMode.safeParse(robot.recording).data : undefined

/** Says before a session that it will be recorded, and what. */
export function PreFlightRecording({ robot }: { robot: object }) {
  const mode = recordingModeOf(robot)
  if (mode === undefined || mode === 'off') return null
  return (
    <Alert color="red" variant="outline" title={t('recording.preFlight.title', { what: recordedText(mode) })}>
      <Text size="sm">{t('recording.preFlight.text')}</Text>
    </Alert>
  )
}
