import { Group, Stack } from '@mantine/core'
import { RecordingStatus, RobotState, SessionStatus } from '@wheelhouse/protocol'
import { createStore } from '../base/store.ts'
import { EpisodePanelView } from '../episodes/episode-panel.tsx'
import { type FreshnessAges, freshnessOf } from '../freshness/freshness.ts'
import { FreshnessOverlay } from '../freshness/freshness-overlay.tsx'
import type { HubConnectionState } from '../platform/live.ts'
import { RecordingMarkView, RecordingStatusLabel } from '../recording/recording-mark.tsx'
import { ChatView } from '../session/chat-panel.tsx'
import { StopBarView } from '../session/stop-bar.tsx'
import { ConnectionBadgeView } from '../status/connection-badge.tsx'
import { type LiveRobot, RobotStateLabel } from '../status/live-robots.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { TrustBadgeView } from '../status/trust-badge.tsx'
import type { StopResult } from '../stop/fleet-stop.ts'
import type { StopRequestState } from '../stop/stop.ts'
import { StopResults } from '../stop/stop-all.tsx'
import { VideoView } from '../video/video-view.tsx'
import { LiveTileView } from '../wall/live-tile.tsx'
import { TileTrust } from '../wall/tile-picture.tsx'
import { ago, chatting, liveRobot, OPERATOR_ID } from './fixtures.ts'
import { block, FakePicture, inColumn, ON_PICTURE, PageFrame, shown } from './frames.tsx'

const doNothing = () => undefined

const live: FreshnessAges = { pictureMs: 40, telemetryMs: 90, linkMs: 20 }
const badge = (id: string, label: string, ages: Partial<FreshnessAges>) =>
  shown(`freshness-${id}`, label, <TrustBadgeView freshness={freshnessOf({ ...live, ...ages })} />)
const overlay = (id: string, label: string, ages: Partial<FreshnessAges>) =>
  shown(
    `overlay-${id}`,
    label,
    <FakePicture>
      <FreshnessOverlay freshness={freshnessOf({ ...live, ...ages })} isHeld={id === 'held'} />
    </FakePicture>,
    ON_PICTURE,
  )

interface Options {
  readonly robot?: LiveRobot
  readonly ages?: Partial<FreshnessAges>
  readonly stopResult?: StopResult
  readonly isUnknown?: boolean
}

function tile(id: string, label: string, options: Options = {}) {
  const { robot = liveRobot, ages, stopResult, isUnknown = false } = options
  const freshness = freshnessOf({ pictureMs: 40, telemetryMs: undefined, linkMs: 0, ...ages })
  return shown(
    `tile-${id}`,
    label,
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
        onStop={doNothing}
      />
    </div>,
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

const recording = { mode: 'video', status: 'RECORDING', paused_reason: null } as const
const interrupted = { ...recording, paused_reason: 'storage_full' }

const marks = {
  running: null,
  task: 'Pick up the red cube',
  setTask: doNothing,
  isBusy: false,
  error: null,
  mark: doNothing,
}
const runningMarks = { ...marks, running: { started_at: ago(42), task: 'Pick up the red cube' } }

const chat = (
  <ChatView
    live={{ ...chatting, room: { send: doNothing, retry: doNothing, discard: doNothing, typing: doNothing } }}
    height={240}
    meId={OPERATOR_ID}
    isConnected
  />
)

const rejected = new Error('The session has ended.')

const pageStop = (id: string, label: string, request: StopRequestState, inForce?: string) =>
  shown(
    `stop-${id}`,
    label,
    <PageFrame height={90}>
      <StopBarView request={request} inForce={inForce} isConnected={id !== 'offline'} onStop={doNothing} />
    </PageFrame>,
  )

const resultsOf = (id: string, label: string, ...results: readonly StopResult[]) =>
  inColumn(
    `stop-results-${id}`,
    label,
    <StopResults
      fleetStop={{
        results: createStore(new Map(results.map((result) => [result.robotName, result]))),
        stop: doNothing,
        forget: doNothing,
      }}
    />,
  )

const none: StopRequestState = { phase: 'none' }

const connections: readonly HubConnectionState[] = ['connecting', 'live', 'reconnecting', 'offline']

export const liveBlocks = [
  block(
    'Freshness badge',
    'Use it once on each page and each tile that shows a robot: it says whether the page can be trusted.',
    badge('live', 'Live', {}),
    badge('connecting', 'Connecting', { pictureMs: 300, isPictureAwaited: true }),
    badge('delayed', 'Delayed', { telemetryMs: 420 }),
    badge('blind', 'Blind', { pictureMs: 2_140 }),
    badge('unknown', 'Picture of unknown age', { pictureMs: 'unknown' }),
  ),
  block(
    'Freshness overlay',
    'Use it above each picture of a robot, so that an old picture cannot be taken for a live one.',
    overlay('live', 'Live', {}),
    overlay('delayed', 'Delayed', { pictureMs: 600 }),
    overlay('blind', 'Blind', { pictureMs: 2_140 }),
    overlay('no-connection', 'No connection', { linkMs: 12_400 }),
    overlay('held', 'Driving held', { pictureMs: 1_300 }),
  ),
  block(
    'Video',
    'Use it for the picture of a robot; it chooses the player by the response of the address.',
    shown(
      'video-missing',
      'Robot without a video',
      <FakePicture>
        <VideoView source="" title="Camera of Ronja" />
      </FakePicture>,
    ),
  ),
  block(
    'Robot state',
    'Use it wherever a robot is listed or shown: one word and one colour for what the robot does now.',
    shown(
      'robot-states',
      'All states',
      <Group gap="xs">
        {RobotState.options.map((state) => (
          <RobotStateLabel key={state} state={state} />
        ))}
      </Group>,
    ),
  ),
  block(
    'Session status',
    'Use it for a session; it is grey when only the last known status is known.',
    shown(
      'session-statuses',
      'All statuses',
      <Group gap="xs">
        {SessionStatus.options.map((status) => (
          <SessionStatusLabel key={status} status={status} />
        ))}
      </Group>,
    ),
    shown('session-status-outdated', 'Last known status', <SessionStatusLabel status="ACTIVE" isOutdated />),
  ),
  block(
    'Connection',
    'Use it in the header of a page: it says whether updates arrive.',
    shown(
      'connections',
      'All states',
      <Group gap="xs">
        {connections.map((connection) => (
          <ConnectionBadgeView key={connection} connection={connection} isOutdated={false} />
        ))}
        <ConnectionBadgeView connection="live" isOutdated />
      </Group>,
    ),
  ),
  block(
    'Stop on a page',
    'Use it on each page about an open session, at the lower edge and above dialogs.',
    pageStop('idle', 'No stop', none),
    pageStop('requested', 'Being sent', { phase: 'requested' }),
    pageStop('offline', 'Waiting for a connection', { phase: 'requested' }),
    pageStop('in-force', 'In force', none, 'You stopped the robot, 20 Nov 2026, 10:30: no reason given.'),
    pageStop('rejected', 'Rejected', { phase: 'rejected', error: rejected }),
  ),
  block(
    'Results of stops',
    'Use it after several robots were stopped at once: it names each robot and its result.',
    resultsOf(
      'complete',
      'All stopped',
      { robotName: 'Bolt', phase: 'recorded' },
      { robotName: 'Ronja', phase: 'recorded' },
    ),
    resultsOf(
      'failed',
      'One not confirmed, one rejected',
      { robotName: 'Bolt', phase: 'recorded' },
      { robotName: 'Courier', phase: 'requested' },
      { robotName: 'Ronja', phase: 'rejected', error: rejected },
    ),
  ),
  block(
    'Messages',
    'Use it wherever an open session is shown, and in the dock of the cockpit.',
    inColumn('chat', 'With messages', chat),
  ),
  block(
    'Live tile',
    'Use it on the wall and on the home page of an owner: one robot, with a stop while it is in a session.',
    tile('driving', 'Driving'),
    tile('frozen', 'Picture frozen', { ages: { pictureMs: 3_400 } }),
    tile('stop-requested', 'Stop not confirmed yet', {
      stopResult: { robotName: 'Ronja', phase: 'requested' },
    }),
    tile('stopped', 'Stopped', { robot: stopped }),
    tile('unknown', 'No connection to the hub', { isUnknown: true }),
    tile('lost', 'Lost', { robot: lost }),
    tile('ready', 'No session', { robot: { ...liveRobot, state: 'READY', session: null } }),
  ),
  block(
    'Mark of a recording',
    'Use it wherever an open session is shown to a participant: it says that the session is recorded, and what.',
    shown(
      'recording-marks',
      'With video, control only, interrupted',
      <Group>
        <RecordingMarkView recording={recording} />
        <RecordingMarkView recording={{ ...recording, mode: 'control' }} />
        <RecordingMarkView recording={interrupted} />
        <RecordingMarkView recording={recording} isUnknown />
      </Group>,
    ),
  ),
  block(
    'Status of a recording',
    'Use it for a recording in lists and on its own page.',
    shown(
      'recording-statuses',
      'All statuses',
      <Group gap="xs">
        {RecordingStatus.options.map((status) => (
          <RecordingStatusLabel key={status} recording={{ status, paused_reason: null }} />
        ))}
        <RecordingStatusLabel recording={interrupted} />
      </Group>,
    ),
  ),
  block(
    'Episodes',
    'Use it on the pages of an open session, and on the picture of the cockpit, where keys do the same.',
    shown(
      'episodes',
      'None runs, and one runs',
      <Stack>
        <EpisodePanelView marks={marks} count={3} />
        <EpisodePanelView marks={runningMarks} count={3} />
      </Stack>,
    ),
  ),
]
