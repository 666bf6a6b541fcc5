import { Anchor, Button, Group, Stack, Table, TextInput } from '@mantine/core'
import { RecordingStatus, RobotState, SessionStatus } from '@wheelhouse/protocol'
import { ApiError } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { CopyableSecret } from '../base/copyable.tsx'
import { DataTable, DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { FormFooter } from '../base/form.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Loading, Problem } from '../base/states.tsx'
import { createStore } from '../base/store.ts'
import { EpisodePanelView } from '../episodes/episode-panel.tsx'
import { type FreshnessAges, freshnessOf } from '../freshness/freshness.ts'
import { FreshnessOverlay } from '../freshness/freshness-overlay.tsx'
import { Attention } from '../home/owner-home.tsx'
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
import {
  ago,
  block,
  chatting,
  doNothing,
  FakePicture,
  inColumn,
  inRow,
  liveRobot,
  ON_PICTURE,
  OPERATOR_ID,
  PageFrame,
  shown,
} from './frames.tsx'

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
    inRow(
      'robot-states',
      'All states',
      RobotState.options.map((state) => <RobotStateLabel key={state} state={state} />),
    ),
  ),
  block(
    'Session status',
    'Use it for a session; it is grey when only the last known status is known.',
    inRow(
      'session-statuses',
      'All statuses',
      SessionStatus.options.map((status) => <SessionStatusLabel key={status} status={status} />),
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

const rows = [
  { robot: 'Bolt', operator: 'Grace', minutes: 42, cost: '€21.00' },
  { robot: 'Courier', operator: 'Ada', minutes: 7, cost: '€3.50' },
]

const change = { error: undefined, isPending: false, isSuccess: false }

export const pageBlocks = [
  block(
    'Empty state',
    'Use it in place of a list without entries: say what will be here, and offer the next step.',
    inColumn(
      'empty',
      'With an explanation',
      <Empty title="No live robots">Connect a robot to see it here.</Empty>,
    ),
    inColumn(
      'empty-action',
      'With an action',
      <Empty title="No robots yet" action={<Button>Register robot</Button>}>
        Register a robot to drive it from anywhere.
      </Empty>,
    ),
  ),
  block(
    'Loading and errors',
    'Use QueryView, which shows them; offer to try again only where that can help.',
    inColumn('loading', 'Loading', <Loading />),
    inColumn('problem', 'Rejected', <Problem error={new ApiError(409, 'The robot is in a session.')} />),
    inColumn('problem-retry', 'No connection', <Problem error={new ApiError(0, '')} onRetry={doNothing} />),
    inColumn(
      'problem-forbidden',
      'Not allowed',
      <Problem error={new ApiError(403, 'Only the owner may do this.')} onRetry={doNothing} />,
    ),
  ),
  block(
    'Table',
    'Use it for records with several values; give it a minWidth if a phone is too narrow for it.',
    inColumn(
      'table',
      'With figures and a sum',
      <DataTable
        label="Sessions"
        columns={[
          'Robot',
          'Operator',
          { label: 'Minutes', align: 'right' },
          { label: 'Cost', align: 'right' },
        ]}
        foot={
          <Table.Tr>
            <Table.Th colSpan={3}>Total</Table.Th>
            <Table.Th ta="right">€24.50</Table.Th>
          </Table.Tr>
        }
      >
        {rows.map(({ robot, operator, minutes, cost }) => (
          <Table.Tr key={robot}>
            <Table.Td>{robot}</Table.Td>
            <Table.Td>{operator}</Table.Td>
            <Table.Td ta="right">{minutes}</Table.Td>
            <Table.Td ta="right">{cost}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>,
    ),
  ),
  block(
    'Section and description list',
    'Use a section for each subject of a page, and a description list for the values of one record.',
    inColumn(
      'description-list',
      'Values of a record',
      <Section title="Robot">
        <DescriptionList cols={2}>
          <DescriptionItem label="Type">rover-2</DescriptionItem>
          <DescriptionItem label="Drive time" size="lg">
            12 h 05 min
          </DescriptionItem>
        </DescriptionList>
      </Section>,
    ),
  ),
  block(
    'Needs attention',
    'Use it first on a home page: one line for each problem, most urgent first, with the action that helps.',
    inColumn(
      'attention',
      'Two problems',
      <Attention
        title="Needs attention"
        none="Everything is fine."
        items={[
          {
            id: '1',
            label: 'Stopped',
            shape: 'blind',
            subject: <Anchor href="#">Ronja</Anchor>,
            detail: 'A person is in its way',
            action: <Button size="xs">Watch</Button>,
          },
          { id: '2', label: 'Paused', shape: 'delayed', subject: <Anchor href="#">Bolt</Anchor> },
        ]}
      />,
    ),
    inColumn(
      'attention-none',
      'No problem',
      <Attention title="Needs attention" none="Everything is fine." items={[]} />,
    ),
  ),
  block(
    'Dialogs',
    'Use them before an action that cannot be undone: name the consequence, and label the button with the action.',
    shown(
      'dialog-confirm',
      'Confirmation',
      <ConfirmButton
        question="End this session?"
        consequence="The robot stops and becomes available. The charge is final. You cannot undo this."
        confirmLabel="End session"
        onConfirm={async () => undefined}
      >
        End
      </ConfirmButton>,
      { opensDialog: true },
    ),
    shown(
      'dialog-reason',
      'With a reason',
      <ConfirmButton
        asksReason
        question="Reject this request?"
        consequence="The operator is notified and sees the reason."
        confirmLabel="Reject"
        onConfirm={async () => undefined}
      >
        Reject
      </ConfirmButton>,
      { opensDialog: true },
    ),
  ),
  block(
    'Forms',
    'Use a footer for each form, and show the error of a field at the field.',
    inColumn(
      'form-field-error',
      'Error of a field',
      <TextInput
        label="Contact email"
        description="Only operators of your sessions see it."
        error="Enter an e-mail address, such as ada@example.com."
        defaultValue="ada"
      />,
    ),
    inColumn('form-footer', 'Footer', <FormFooter change={change} />),
    inColumn('form-footer-saved', 'Footer, saved', <FormFooter change={{ ...change, isSuccess: true }} />),
    inColumn(
      'form-footer-error',
      'Footer, with an error',
      <Stack>
        <FormFooter change={{ ...change, error: new ApiError(500, 'Internal error') }} />
      </Stack>,
    ),
  ),
  block(
    'Secret',
    'Use it for a value to copy, such as a token or a command; a token is shown once.',
    inColumn(
      'secret',
      'Command',
      <CopyableSecret label="Command" value="node robot.mjs https://hub.example" />,
    ),
  ),
]
