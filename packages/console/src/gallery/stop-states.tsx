import { Button, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { createStore } from '../base/store.ts'
import { StopBarView as CockpitStop, type ShownStop } from '../drive/stop-bar.tsx'
import { StopBarView } from '../session/stop-bar.tsx'
import type { StopResult } from '../stop/fleet-stop.ts'
import type { StopRequestState } from '../stop/stop.ts'
import { StopResults } from '../stop/stop-all.tsx'
import { ago } from './fixtures.ts'
import { CockpitFrame, Column, type GalleryBlock, ON_PICTURE, PageFrame } from './frames.tsx'

const rejected = new Error('The session has ended.')
const doNothing = () => undefined

const inForce: ShownStop = {
  actorText: ' by you',
  reason: 'from the cockpit',
  isRecorded: true,
  at: ago(65),
  mayClear: true,
}

const cockpitStop = (request: StopRequestState, stop?: ShownStop, clearing?: ReactNode) => (
  <CockpitFrame
    width={900}
    height={250}
    beside={
      <CockpitStop request={request} inForce={stop} hand="right" clearing={clearing} onStop={doNothing} />
    }
  />
)

const pageStop = (request: StopRequestState, options: { inForce?: string; isConnected?: boolean } = {}) => (
  <PageFrame height={90}>
    <StopBarView
      request={request}
      inForce={options.inForce}
      isConnected={options.isConnected ?? true}
      onStop={doNothing}
    />
  </PageFrame>
)

const resultsOf = (results: readonly StopResult[]) => (
  <Column>
    <StopResults
      fleetStop={{
        results: createStore(new Map(results.map((result) => [result.robotName, result]))),
        stop: doNothing,
        forget: doNothing,
      }}
    />
  </Column>
)

const none: StopRequestState = { phase: 'none' }

export const stopBlocks: readonly GalleryBlock[] = [
  {
    title: 'Stop in the cockpit',
    use: 'Use it above everything in the cockpit: the stop button, and across the picture who stopped the robot and why.',
    states: [
      { id: 'cockpit-stop-idle', label: 'No stop', schemes: ON_PICTURE, render: () => cockpitStop(none) },
      {
        id: 'cockpit-stop-requested',
        label: 'Being sent',
        schemes: ON_PICTURE,
        render: () => cockpitStop({ phase: 'requested' }),
      },
      {
        id: 'cockpit-stop-rejected',
        label: 'Rejected',
        schemes: ON_PICTURE,
        render: () => cockpitStop({ phase: 'rejected', error: rejected }),
      },
      {
        id: 'cockpit-stop-saving',
        label: 'In force, not recorded yet',
        schemes: ON_PICTURE,
        render: () =>
          cockpitStop(
            { phase: 'requested' },
            { ...inForce, isRecorded: false, at: undefined, mayClear: undefined },
          ),
      },
      {
        id: 'cockpit-stop-in-force',
        label: 'In force, clearable',
        render: () => cockpitStop(none, inForce, <Button variant="default">Clear stop</Button>),
      },
      {
        id: 'cockpit-stop-by-owner',
        label: 'By the owner, clear requested',
        render: () =>
          cockpitStop(
            none,
            { ...inForce, actorText: ' by the owner', reason: 'A person is in its way', mayClear: false },
            <>
              <Button>Ask to clear (C)</Button>
              <Text size="sm">Requested just now.</Text>
            </>,
          ),
      },
    ],
  },
  {
    title: 'Stop on a page',
    use: 'Use it on each page about an open session, at the lower edge and above dialogs.',
    states: [
      { id: 'stop-idle', label: 'No stop', render: () => pageStop(none) },
      { id: 'stop-requested', label: 'Being sent', render: () => pageStop({ phase: 'requested' }) },
      {
        id: 'stop-offline',
        label: 'Waiting for a connection',
        render: () => pageStop({ phase: 'requested' }, { isConnected: false }),
      },
      {
        id: 'stop-in-force',
        label: 'In force',
        render: () =>
          pageStop(none, { inForce: 'You stopped the robot, 20 Nov 2026, 10:30: no reason given.' }),
      },
      {
        id: 'stop-rejected',
        label: 'Rejected',
        render: () => pageStop({ phase: 'rejected', error: rejected }),
      },
    ],
  },
  {
    title: 'Results of stops',
    use: 'Use it after several robots were stopped at once: it names each robot and its result.',
    states: [
      {
        id: 'stop-results-complete',
        label: 'All stopped',
        render: () =>
          resultsOf([
            { robotName: 'Bolt', phase: 'recorded' },
            { robotName: 'Ronja', phase: 'recorded' },
          ]),
      },
      {
        id: 'stop-results-failed',
        label: 'One not confirmed, one rejected',
        render: () =>
          resultsOf([
            { robotName: 'Bolt', phase: 'recorded' },
            { robotName: 'Courier', phase: 'requested' },
            { robotName: 'Ronja', phase: 'rejected', error: rejected },
          ]),
      },
    ],
  },
]
