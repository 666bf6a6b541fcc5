import { Badge } from '@mantine/core'
import type { RecordingStatus } from '@wheelhouse/protocol'
import { t } from '../texts/texts.ts'
import type { Recording } from './recordings.ts'

const texts: Readonly<Record<RecordingStatus, string>> = {
  RECORDING: t('replay.status.recording'),
  FINISHING: t('replay.status.finishing'),
  READY: t('replay.status.ready'),
  FAILED: t('replay.status.failed'),
}
const colors: Readonly<Record<RecordingStatus, string>> = {
  RECORDING: 'red.9',
  FINISHING: 'gray.7',
  READY: 'teal.9',
  FAILED: 'orange.9',
}

/** Shows the state of a recording, also that nothing is stored at present. */
export const RecordingStatusBadge = ({
  recording: { status, paused_reason },
}: {
  recording: Pick<Recording, 'status' | 'paused_reason'>
}) =>
  status === 'RECORDING' && paused_reason !== null ? (
    <Badge color="orange.9">{t('replay.status.interrupted')}</Badge>
  ) : (
    <Badge color={colors[status]}>{texts[status]}</Badge>
  )
