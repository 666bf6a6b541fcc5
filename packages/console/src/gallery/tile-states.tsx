import { type FreshnessAges, freshnessOf } from '../live/freshness.ts'
import { FreshnessBadge, FreshnessOverlay } from '../live/freshness-badge.tsx'
import type { LiveRobot } from '../live/live-robots.tsx'
import type { StopResult } from '../wall/fleet-stop.ts'
import { LiveTileView } from '../wall/live-tile.tsx'
import wall from '../wall/wall.module.css'
import { ago, liveRobot } from './fixtures.ts'
import { FakePicture } from './frames.tsx'
import type { GalleryBlock } from './gallery-state.ts'

interface Options {
  readonly robot?: LiveRobot
  readonly ages?: Partial<FreshnessAges>
  readonly stopResult?: StopResult
}

function tile({ robot = liveRobot, ages, stopResult }: Options = {}) {
  const freshness = freshnessOf({ pictureMs: 40, telemetryMs: undefined, linkMs: 0, ...ages })
  return (
    <ul className={wall.wall} style={{ width: 288 }}>
      <LiveTileView
        robot={robot}
        heartbeatAt={robot.last_heartbeat}
        picture={
          <FakePicture width="100%">
            <FreshnessOverlay freshness={freshness} />
          </FakePicture>
        }
        freshness={<FreshnessBadge freshness={freshness} />}
        stopResult={stopResult}
        onStop={() => undefined}
      />
    </ul>
  )
}

const stopped: LiveRobot = {
  ...liveRobot,
  state: 'STOPPED',
  session: {
    ...liveRobot.session,
    status: 'PAUSED',
    stop: { reason: 'A person is in its way', at: ago(40), by_name: 'Olive' },
  },
}

const lost: LiveRobot = {
  ...liveRobot,
  state: 'LOST',
  battery: null,
  last_heartbeat: ago(42),
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
      { id: 'tile-lost', label: 'Lost', render: () => tile({ robot: lost, ages: { linkMs: 42_000 } }) },
      {
        id: 'tile-ready',
        label: 'No session',
        render: () => tile({ robot: { ...liveRobot, state: 'READY', session: null } }),
      },
    ],
  },
]
