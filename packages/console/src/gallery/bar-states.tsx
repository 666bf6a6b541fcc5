import { useState } from 'react'
import { BottomBar } from '../drive/bottom-bar.tsx'
import type { PadState } from '../drive/gamepad.ts'
import { createHud } from '../drive/hud.tsx'
import type { DriveActions } from '../drive/hud-actions.ts'
import { TopBarView, Warning } from '../drive/top-bar.tsx'
import { BatteryFigure, EarningsFigure, LatencyFigure } from '../drive/top-bar-figures.tsx'
import { freshnessOf } from '../live/freshness.ts'
import { FreshnessBadge } from '../live/freshness-badge.tsx'
import { HudButton } from '../ui/hud-button.tsx'
import { createStore } from '../ui/store.ts'
import { session } from './fixtures.ts'
import { CockpitFrame, OnPicture } from './frames.tsx'
import { type GalleryBlock, ON_PICTURE } from './gallery-state.ts'

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
