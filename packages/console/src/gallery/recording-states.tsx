import { Group, Stack } from '@mantine/core'
import { RecordingStatus } from '@wheelhouse/protocol'
import { EpisodePanelView } from '../recording/episode-panel.tsx'
import { RecordingMarkView } from '../recording/recording-mark.tsx'
import { RecordingStatusBadge } from '../recording/recording-status.tsx'
import { ago } from './fixtures.ts'
import { CockpitFrame } from './frames.tsx'
import { type GalleryBlock, ON_PICTURE } from './gallery-state.ts'

const recording = { mode: 'video', status: 'RECORDING', paused_reason: null } as const
const interrupted = { ...recording, paused_reason: 'storage_full' }

const marks = {
  running: null,
  task: 'Pick up the red cube',
  setTask: () => undefined,
  isBusy: false,
  error: undefined,
  mark: () => undefined,
}
const runningMarks = { ...marks, running: { started_at: ago(42), task: 'Pick up the red cube' } }

export const recordingBlocks: readonly GalleryBlock[] = [
  {
    title: 'Mark of a recording',
    use: 'Use it wherever an open session is shown to a participant: it says that the session is recorded, and what.',
    states: [
      {
        id: 'recording-marks',
        label: 'With video, control only, interrupted',
        render: () => (
          <Group>
            <RecordingMarkView recording={recording} />
            <RecordingMarkView recording={{ ...recording, mode: 'control' }} />
            <RecordingMarkView recording={interrupted} />
            <RecordingMarkView recording={recording} isUnknown />
          </Group>
        ),
      },
    ],
  },
  {
    title: 'Status of a recording',
    use: 'Use it for a recording in lists and on its own page.',
    states: [
      {
        id: 'recording-statuses',
        label: 'All statuses',
        render: () => (
          <Group gap="xs">
            {RecordingStatus.options.map((status) => (
              <RecordingStatusBadge key={status} recording={{ status, paused_reason: null }} />
            ))}
            <RecordingStatusBadge recording={interrupted} />
          </Group>
        ),
      },
    ],
  },
  {
    title: 'Episodes',
    use: 'Use it on the pages of an open session, and on the picture of the cockpit, where keys do the same.',
    states: [
      {
        id: 'episodes',
        label: 'None runs, and one runs',
        render: () => (
          <Stack>
            <EpisodePanelView marks={marks} count={3} />
            <EpisodePanelView marks={runningMarks} count={3} />
          </Stack>
        ),
      },
      {
        id: 'episodes-on-picture',
        label: 'On the picture',
        schemes: ON_PICTURE,
        render: () => (
          <CockpitFrame height={240}>
            <EpisodePanelView marks={runningMarks} count={3} isOnPicture />
          </CockpitFrame>
        ),
      },
    ],
  },
]
