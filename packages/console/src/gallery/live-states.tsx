import { Group, Stack } from '@mantine/core'
import { RecordingStatus } from '@wheelhouse/protocol'
import { EpisodePanelView } from '../episodes/episode-panel.tsx'
import { type FreshnessAges, freshnessOf } from '../freshness/freshness.ts'
import { FreshnessOverlay } from '../freshness/freshness-overlay.tsx'
import { RecordingMarkView } from '../recording/recording-mark.tsx'
import { RecordingStatusLabel } from '../recording/recording-status.tsx'
import { ChatView } from '../session/chat-panel.tsx'
import type { LiveRobot } from '../status/live-robots.tsx'
import { TrustBadgeView } from '../status/trust-badge.tsx'
import type { StopResult } from '../stop/fleet-stop.ts'
import { VideoView } from '../video/video-view.tsx'
import { LiveTileView } from '../wall/live-tile.tsx'
import { TileTrust } from '../wall/tile-picture.tsx'
import { ago, chatting, liveRobot, OPERATOR_ID } from './fixtures.ts'
import { Column, FakePicture, type GalleryBlock, inColumn, ON_PICTURE } from './frames.tsx'

const live: FreshnessAges = { pictureMs: 40, telemetryMs: 90, linkMs: 20 }
const badge = (ages: Partial<FreshnessAges>) => (
  <TrustBadgeView freshness={freshnessOf({ ...live, ...ages })} />
)
const freshnessOverlay = (ages: Partial<FreshnessAges>, isHeld = false) => (
  <FakePicture>
    <FreshnessOverlay freshness={freshnessOf({ ...live, ...ages })} isHeld={isHeld} />
  </FakePicture>
)

export const freshnessBlocks: readonly GalleryBlock[] = [
  {
    title: 'Freshness badge',
    use: 'Use it once on each page and each tile that shows a robot: it says whether the page can be trusted.',
    states: [
      { id: 'freshness-live', label: 'Live', render: () => badge({}) },
      {
        id: 'freshness-connecting',
        label: 'Connecting',
        render: () => badge({ pictureMs: 300, isPictureAwaited: true }),
      },
      { id: 'freshness-delayed', label: 'Delayed', render: () => badge({ telemetryMs: 420 }) },
      { id: 'freshness-blind', label: 'Blind', render: () => badge({ pictureMs: 2_140 }) },
      {
        id: 'freshness-unknown',
        label: 'Picture of unknown age',
        render: () => badge({ pictureMs: 'unknown' }),
      },
    ],
  },
  {
    title: 'Freshness overlay',
    use: 'Use it above each picture of a robot, so that an old picture cannot be taken for a live one.',
    states: [
      { id: 'overlay-live', label: 'Live', schemes: ON_PICTURE, render: () => freshnessOverlay({}) },
      {
        id: 'overlay-delayed',
        label: 'Delayed',
        schemes: ON_PICTURE,
        render: () => freshnessOverlay({ pictureMs: 600 }),
      },
      {
        id: 'overlay-blind',
        label: 'Blind',
        schemes: ON_PICTURE,
        render: () => freshnessOverlay({ pictureMs: 2_140 }),
      },
      {
        id: 'overlay-no-connection',
        label: 'No connection',
        schemes: ON_PICTURE,
        render: () => freshnessOverlay({ linkMs: 12_400 }),
      },
      {
        id: 'overlay-held',
        label: 'Driving held',
        schemes: ON_PICTURE,
        render: () => freshnessOverlay({ pictureMs: 1_300 }, true),
      },
    ],
  },
  {
    title: 'Video',
    use: 'Use it for the picture of a robot; it chooses the player by the response of the address.',
    states: [
      {
        id: 'video-missing',
        label: 'Robot without a video',
        render: () => (
          <Column>
            <VideoView source="" title="Camera of Ronja" />
          </Column>
        ),
      },
    ],
  },
]

interface Options {
  readonly robot?: LiveRobot
  readonly ages?: Partial<FreshnessAges>
  readonly stopResult?: StopResult
  readonly isUnknown?: boolean
}

function tile({ robot = liveRobot, ages, stopResult, isUnknown = false }: Options = {}) {
  const freshness = freshnessOf({ pictureMs: 40, telemetryMs: undefined, linkMs: 0, ...ages })
  return (
    <div style={{ width: 400 }}>
      <LiveTileView
        robot={robot}
        isUnknown={isUnknown}
        number={robot.session ? 1 : undefined}
        picture={
          <div style={{ position: 'absolute', inset: 0 }}>
            <FakePicture width="100%" />
          </div>
        }
        trust={<TileTrust robot={robot} isUnknown={isUnknown} hasPicture freshness={freshness} />}
        stopResult={stopResult}
        onStop={() => undefined}
      />
    </div>
  )
}

const stopped: LiveRobot = {
  ...liveRobot,
  state: 'STOPPED',
  session: {
    ...liveRobot.session,
    status: 'PAUSED',
    stop: { reason: 'A person is in its way', at: ago(40), by_name: 'Olive', clear_requested_at: null },
  },
}

const lost: LiveRobot = {
  ...liveRobot,
  state: 'LOST',
  battery: null,
  session: { ...liveRobot.session, status: 'PAUSED', pause_reason: 'robot_lost' },
}

export const tileBlocks: readonly GalleryBlock[] = [
  {
    title: 'Live tile',
    use: 'Use it on the wall and on the home page of an owner: one robot, with a stop while it is in a session.',
    states: [
      { id: 'tile-driving', label: 'Driving', render: () => tile() },
      { id: 'tile-frozen', label: 'Picture frozen', render: () => tile({ ages: { pictureMs: 3_400 } }) },
      {
        id: 'tile-stop-requested',
        label: 'Stop not confirmed yet',
        render: () => tile({ stopResult: { robotName: 'Ronja', phase: 'requested' } }),
      },
      { id: 'tile-stopped', label: 'Stopped', render: () => tile({ robot: stopped }) },
      { id: 'tile-unknown', label: 'No connection to the hub', render: () => tile({ isUnknown: true }) },
      { id: 'tile-lost', label: 'Lost', render: () => tile({ robot: lost }) },
      {
        id: 'tile-ready',
        label: 'No session',
        render: () => tile({ robot: { ...liveRobot, state: 'READY', session: null } }),
      },
    ],
  },
]

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
              <RecordingStatusLabel key={status} recording={{ status, paused_reason: null }} />
            ))}
            <RecordingStatusLabel recording={interrupted} />
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
    ],
  },
]

const doNothing = () => undefined

const chat = (
  <ChatView
    live={{ ...chatting, room: { send: doNothing, retry: doNothing, discard: doNothing, typing: doNothing } }}
    height={240}
    meId={OPERATOR_ID}
    isConnected
  />
)

export const noticeBlocks: readonly GalleryBlock[] = [
  {
    title: 'Messages',
    use: 'Use it wherever an open session is shown, and in the dock of the cockpit.',
    states: [inColumn('chat', 'With messages', chat)],
  },
]
