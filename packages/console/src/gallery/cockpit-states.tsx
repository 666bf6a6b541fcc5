import { useState } from 'react'
import { HudButton } from '../base/hud-button.tsx'
import { createStore } from '../base/store.ts'
import { BottomBar } from '../drive/bottom-bar.tsx'
import { Figures } from '../drive/figures.tsx'
import type { PadState } from '../drive/gamepad.ts'
import { createHud } from '../drive/hud.tsx'
import type { DriveActions } from '../drive/hud-actions.ts'
import type { BatteryReading } from '../drive/measurements.ts'
import { TopBarView, Warning } from '../drive/top-bar.tsx'
import { BatteryFigure, EarningsFigure, LatencyFigure, SessionTime } from '../drive/top-bar-figures.tsx'
import { freshnessOf } from '../freshness/freshness.ts'
import { FreshnessBadge } from '../freshness/freshness-badge.tsx'
import type { TelemetrySample } from '../telemetry/feed.ts'
import { ago, session } from './fixtures.ts'
import { CockpitFrame, type GalleryBlock, type GalleryState, ON_PICTURE, OnPicture } from './frames.tsx'

const doNothing = () => undefined

const actions: DriveActions = {
  isPaused: false,
  canResume: false,
  isBusy: false,
  error: undefined,
  pause: doNothing,
  resume: doNothing,
  end: async () => undefined,
}

function Bottom(props: { actions: DriveActions; gamepad?: string }) {
  const [hud] = useState(createHud)
  const { gamepad: name } = props
  const [gamepad] = useState(() =>
    createStore<PadState>(name === undefined ? { phase: 'none' } : { phase: 'ready', name }),
  )
  return (
    <CockpitFrame height={90}>
      <BottomBar
        gamepad={gamepad}
        hasInputs={false}
        hasEpisodes={false}
        actions={props.actions}
        hud={hud}
        perform={doNothing}
        onFloat={doNothing}
      />
    </CockpitFrame>
  )
}

export const barBlocks: readonly GalleryBlock[] = [
  {
    title: 'Top bar of the cockpit',
    use: 'Use it for what the operator must know at a glance; its figures keep their widths, so that nothing moves.',
    states: [
      {
        id: 'top-bar-driving',
        label: 'Driving',
        schemes: ON_PICTURE,
        render: () => (
          <CockpitFrame height={80}>
            <TopBarView
              session={session}
              earnings={<EarningsFigure session={session} seconds={session.billable_seconds} />}
              word="DRIVING"
              linkPhase="online"
              freshness={
                <FreshnessBadge freshness={freshnessOf({ pictureMs: 40, telemetryMs: 90, linkMs: 20 })} />
              }
              latency={<LatencyFigure ms={48} />}
              battery={
                <BatteryFigure
                  reading={{ charge: 0.62, level: 'good', trend: 'draining', minutesLeft: 41 }}
                />
              }
              warnings={null}
            />
          </CockpitFrame>
        ),
      },
      {
        id: 'top-bar-watching',
        label: 'Watched by the owner',
        schemes: ON_PICTURE,
        render: () => (
          <CockpitFrame height={80}>
            <TopBarView
              isWatching
              session={session}
              earnings={<EarningsFigure session={session} seconds={session.billable_seconds} />}
              word="DRIVING"
              linkPhase="online"
              freshness={
                <FreshnessBadge freshness={freshnessOf({ pictureMs: 40, telemetryMs: 90, linkMs: 20 })} />
              }
              latency={<LatencyFigure ms={48} />}
              battery={<BatteryFigure reading={undefined} />}
              warnings={null}
            />
          </CockpitFrame>
        ),
      },
      {
        id: 'top-bar-trouble',
        label: 'Lost, with warnings',
        schemes: ON_PICTURE,
        render: () => (
          <CockpitFrame height={110}>
            <TopBarView
              session={session}
              earnings={<EarningsFigure session={session} seconds={session.billable_seconds} />}
              word="LOST"
              linkPhase="offline"
              freshness={
                <FreshnessBadge
                  freshness={freshnessOf({ pictureMs: 40, telemetryMs: undefined, linkMs: 3_200 })}
                />
              }
              latency={<LatencyFigure ms={undefined} />}
              battery={<BatteryFigure reading={undefined} />}
              warnings={
                <>
                  <Warning text="Speed limited to 40 % by latency" />
                  <Warning text="Connection congested: no answer" />
                </>
              }
            />
          </CockpitFrame>
        ),
      },
    ],
  },
  {
    title: 'Bottom bar of the cockpit',
    use: 'Use it for the actions of the session and the tools; the stop, at its left, is a separate button.',
    states: [
      {
        id: 'bottom-bar-driving',
        label: 'Driving with a gamepad',
        schemes: ON_PICTURE,
        render: () => <Bottom actions={actions} gamepad="Xbox Wireless Controller" />,
      },
      {
        id: 'bottom-bar-paused',
        label: 'Paused, may resume',
        schemes: ON_PICTURE,
        render: () => <Bottom actions={{ ...actions, isPaused: true, canResume: true }} />,
      },
      {
        id: 'bottom-bar-failed',
        label: 'The last action failed',
        schemes: ON_PICTURE,
        render: () => (
          <Bottom actions={{ ...actions, isPaused: true, error: new Error('The robot is not connected.') }} />
        ),
      },
    ],
  },
  {
    title: 'Button on the picture',
    use: 'Use it for actions on the picture; show its key if there is one.',
    states: [
      {
        id: 'hud-buttons',
        label: 'With key, primary, disabled',
        schemes: ON_PICTURE,
        render: () => (
          <OnPicture>
            <HudButton>Controls</HudButton>
            <HudButton hint="P">Pause</HudButton>
            <HudButton hint="R" isPrimary>
              Resume
            </HudButton>
            <HudButton hint="R" disabled>
              Resume
            </HudButton>
          </OnPicture>
        ),
      },
    ],
  },
]

const battery = (id: string, label: string, reading: BatteryReading | undefined): GalleryState => ({
  id: `battery-${id}`,
  label,
  schemes: ON_PICTURE,
  render: () => (
    <OnPicture>
      <BatteryFigure reading={reading} />
    </OnPicture>
  ),
})

const latency = (id: string, label: string, ms: number | undefined): GalleryState => ({
  id: `latency-${id}`,
  label,
  schemes: ON_PICTURE,
  render: () => (
    <OnPicture>
      <LatencyFigure ms={ms} />
    </OnPicture>
  ),
})

/** @param plannedSeconds the planned length of the session; null when no end is planned */
const clock = (id: string, label: string, plannedSeconds: number | null): GalleryState => ({
  id: `clock-${id}`,
  label,
  schemes: ON_PICTURE,
  render: () => (
    <OnPicture>
      <SessionTime
        session={{ ...session, planned_end: plannedSeconds === null ? null : ago(761 - plannedSeconds) }}
      />
    </OnPicture>
  ),
})

const driving = {
  pose: { x_m: 1, y_m: 2, heading_rad: 0.6 },
  velocity: { linear_mps: 0.42, angular_radps: 0 },
  nearest_obstacle: { distance_m: 1.8, bearing_rad: 0.4 },
}

/** Samples never age here, or are always old: their time is a limit, not a moment. */
const figures = (options: { data?: unknown; limit?: number; isStale?: boolean }) => (
  <CockpitFrame width={1240} height={150}>
    <Figures
      subscribe={(listener) => {
        const atMs = options.isStale ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
        const sample: TelemetrySample = { atMs, data: options.data }
        if (options.data !== undefined) listener(sample)
        return () => undefined
      }}
      telemetrySchema={null}
      preferences={
        options.limit === undefined
          ? undefined
          : { limit: createStore(options.limit), stepLimit: () => undefined }
      }
      fullSpeed={{ linearMps: 1, angularRadps: 1.5 }}
    />
  </CockpitFrame>
)

export const figureBlocks: readonly GalleryBlock[] = [
  {
    title: 'Latency',
    use: 'Use it in the cockpit for the usual round trip of commands; pressed, it shows the details of the connection.',
    states: [
      latency('good', 'Below 150 ms', 48),
      latency('fair', 'From 150 ms on', 210),
      latency('bad', 'From 400 ms on', 640),
      latency('unknown', 'Unknown', undefined),
    ],
  },
  {
    title: 'Battery',
    use: 'Use it in the cockpit for the charge of the robot, its trend and how long it lasts.',
    states: [
      battery('draining', 'Draining', { charge: 0.62, level: 'good', trend: 'draining', minutesLeft: 41 }),
      battery('charging', 'Charging', {
        charge: 0.8,
        level: 'good',
        trend: 'charging',
        minutesLeft: undefined,
      }),
      battery('low', 'Low', { charge: 0.24, level: 'low', trend: 'draining', minutesLeft: 12 }),
      battery('critical', 'Almost empty', {
        charge: 0.07,
        level: 'critical',
        trend: 'draining',
        minutesLeft: 3,
      }),
      battery('unknown', 'Unknown', undefined),
    ],
  },
  {
    title: 'Session clock and earnings',
    use: 'Use both in the cockpit: the clock warns five minutes before the planned end, the earnings are an estimate.',
    states: [
      clock('running', 'Running', 1_800),
      clock('soon', 'Planned end in less than five minutes', 900),
      clock('over', 'Planned end has passed', 600),
      clock('open', 'No planned end', null),
      {
        id: 'earnings',
        label: 'Earnings',
        schemes: ON_PICTURE,
        render: () => (
          <OnPicture>
            <EarningsFigure session={session} seconds={session.billable_seconds} />
          </OnPicture>
        ),
      },
    ],
  },
  {
    title: 'Speed, heading and nearest obstacle',
    use: 'Use it in the cockpit for the telemetry that driving needs; the bar behind the limit is the present speed.',
    states: [
      {
        id: 'figures-driving',
        label: 'Driving',
        schemes: ON_PICTURE,
        readyText: '0.42 m/s',
        render: () => figures({ data: driving, limit: 0.5 }),
      },
      {
        id: 'figures-near',
        label: 'Obstacle near',
        schemes: ON_PICTURE,
        readyText: '0.3 m',
        render: () =>
          figures({ data: { ...driving, nearest_obstacle: { distance_m: 0.3, bearing_rad: 0 } }, limit: 1 }),
      },
      {
        id: 'figures-stale',
        label: 'Telemetry older than a second',
        schemes: ON_PICTURE,
        readyText: '0.42 m/s',
        render: () => figures({ data: driving, limit: 0.5, isStale: true }),
      },
      {
        id: 'figures-watching',
        label: 'Watched by the owner, without a limit to set',
        schemes: ON_PICTURE,
        render: () => figures({ data: driving }),
      },
      {
        id: 'figures-unknown',
        label: 'No telemetry',
        schemes: ON_PICTURE,
        render: () => figures({ limit: 0.05 }),
      },
    ],
  },
]
