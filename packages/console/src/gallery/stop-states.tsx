import { createStore } from '../base/store.ts'
import { StopBarView } from '../session/stop-bar.tsx'
import type { StopResult } from '../stop/fleet-stop.ts'
import type { StopRequestState } from '../stop/stop.ts'
import { StopResults } from '../stop/stop-all.tsx'
import { Column, type GalleryBlock, PageFrame } from './frames.tsx'

const rejected = new Error('The session has ended.')
const doNothing = () => undefined

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
