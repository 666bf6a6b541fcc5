import { Group } from '@mantine/core'
import { RobotState, SessionStatus } from '@wheelhouse/protocol'
import { ConnectionBadgeView } from '../live/connection-badge.tsx'
import { RobotStateBadge } from '../live/live-robots.tsx'
import type { HubConnectionState } from '../platform/live.ts'
import { StatusBadge } from '../session/status-badge.tsx'
import type { GalleryBlock } from './gallery-state.ts'

const connections: readonly HubConnectionState[] = ['connecting', 'live', 'reconnecting', 'offline']

export const badgeBlocks: readonly GalleryBlock[] = [
  {
    title: 'Robot state',
    use: 'Use it wherever a robot is listed or shown: one word and one colour for what the robot does now.',
    states: [
      {
        id: 'robot-states',
        label: 'All states',
        render: () => (
          <Group gap="xs">
            {RobotState.options.map((state) => (
              <RobotStateBadge key={state} state={state} />
            ))}
          </Group>
        ),
      },
    ],
  },
  {
    title: 'Session status',
    use: 'Use it for a session; it is grey when only the last known status is known.',
    states: [
      {
        id: 'session-statuses',
        label: 'All statuses',
        render: () => (
          <Group gap="xs">
            {SessionStatus.options.map((status) => (
              <StatusBadge key={status} status={status} />
            ))}
          </Group>
        ),
      },
      {
        id: 'session-status-outdated',
        label: 'Last known status',
        render: () => <StatusBadge status="ACTIVE" isOutdated />,
      },
    ],
  },
  {
    title: 'Connection',
    use: 'Use it in the header of a page: it says whether updates arrive.',
    states: [
      {
        id: 'connections',
        label: 'All states',
        render: () => (
          <Group gap="xs">
            {connections.map((connection) => (
              <ConnectionBadgeView key={connection} connection={connection} isOutdated={false} />
            ))}
            <ConnectionBadgeView connection="live" isOutdated />
          </Group>
        ),
      },
    ],
  },
]
