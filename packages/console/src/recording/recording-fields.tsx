import { NumberInput, Radio, Stack } from '@mantine/core'
import { RecordingMode } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { t } from '../texts/texts.ts'
import { recordedLabel } from './recording-texts.ts'

type RecordingSettings = Pick<Schemas['RobotDetail'], 'recording' | 'recording_days'>

/** The settings as a form has them. */
export interface RecordingValues {
  readonly recording: RecordingMode
  /** Empty keeps recordings. */
  readonly recording_days: number | string
}

export const recordingFields = ['recording', 'recording_days'] as const

/** Returns the settings of a robot as form values. Null days keep recordings. */
export const recordingValues = ({ recording, recording_days }: RecordingSettings): RecordingValues => ({
  recording,
  recording_days: recording_days ?? '',
})

/** Returns form values as the API takes them. */
export const recordingSettings = ({ recording, recording_days }: RecordingValues): RecordingSettings => ({
  recording,
  recording_days: recording_days === '' ? null : Number(recording_days),
})

interface Props {
  readonly values: RecordingValues
  readonly errors: { readonly [F in keyof RecordingValues]?: string }
  readonly onChange: (change: Partial<RecordingValues>) => void
}

/** Renders the choice of what is recorded, and for how long it is kept. */
export const RecordingFields = ({ values, errors, onChange }: Props) => (
  <>
    <Radio.Group
      label={t('recording.fields.title')}
      description={t('recording.fields.note')}
      value={values.recording}
      error={errors.recording}
      onChange={(value) => onChange({ recording: RecordingMode.parse(value) })}
    >
      <Stack gap="xs" mt="xs">
        <Radio value="off" label={recordedLabel('off')} />
        <Radio value="control" label={recordedLabel('control')} />
        <Radio value="video" label={recordedLabel('video')} />
      </Stack>
    </Radio.Group>
    <NumberInput
      label={t('recording.fields.days')}
      description={t('recording.fields.daysNote')}
      placeholder={t('recording.fields.keep')}
      min={1}
      max={3_650}
      allowDecimal={false}
      value={values.recording_days}
      error={errors.recording_days}
      disabled={values.recording === 'off'}
      onChange={(recording_days) => onChange({ recording_days })}
    />
  </>
)
