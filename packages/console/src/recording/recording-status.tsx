import type { RecordingStatus } from '@wheelhouse/protocol'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel } from '../status/state-label.tsx'
import { t } from '../texts/texts.ts'
import type { Recording } from './recordings.ts'

const texts: Readonly<Record<RecordingStatus, string>> = {
  RECORDING: t('replay.status.recording'),
  FINISHING: t('replay.status.finishing'),
  READY: t('replay.status.ready'),
  FAILED: t('replay.status.failed'),
}
const shapes: Readonly<Record<RecordingStatus, ShapeName>> = {
  RECORDING: 'live',
  FINISHING: 'off',
  READY: 'off',
  FAILED: 'delayed',
}

/** Shows the state of a recording, also that nothing is stored at present. */
export const RecordingStatusLabel = ({
  recording: { status, paused_reason },
}: {
  recording: Pick<Recording, 'status' | 'paused_reason'>
}) =>
  status === 'RECORDING' && paused_reason !== null ? (
    <StateLabel shape="delayed">{t('replay.status.interrupted')}</StateLabel>
  ) : (
    <StateLabel shape={shapes[status]}>{texts[status]}</StateLabel>
  )
