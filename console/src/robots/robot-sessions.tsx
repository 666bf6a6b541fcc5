import { Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { duration, money } from '../ui/format.ts'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import type { Robot } from './use-robots.ts'

type Session = Schemas['ClientSession'] | Schemas['OperatorSession']

/** Sessions that are looked through for those of one robot. */
const LOOKED_THROUGH = 100

const statusTexts: Record<Session['status'], string> = {
  PENDING: 'Planned',
  ACTIVE: 'Active',
  PAUSED: 'Paused',
  COMPLETED: 'Completed',
  CANCELLED: 'Cancelled',
}

/** What was done with a robot lately. */
export function RobotSessions({ robot }: { robot: Robot }) {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'newest', LOOKED_THROUGH],
    queryFn: () => answerOf(rest.GET('/api/sessions', { params: { query: { limit: LOOKED_THROUGH } } })),
    select: ({ sessions }) => ({
      own: sessions.filter(({ robot_id }) => robot_id === robot.id),
      more: sessions.length === LOOKED_THROUGH,
    }),
  })
  return (
    <QueryView query={query}>
      {({ own, more }) => (
        <>
          {own.length === 0 ? <Empty title="No sessions yet" /> : <SessionTable sessions={own} />}
          {more && (
            <Text size="sm" c="dimmed">
              Of your {LOOKED_THROUGH} newest sessions, those with this robot.
            </Text>
          )}
        </>
      )}
    </QueryView>
  )
}

const SessionTable = ({ sessions }: { sessions: readonly Session[] }) => (
  <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table aria-label="Sessions">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Started</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Operator</Table.Th>
          <Table.Th>Duration</Table.Th>
          <Table.Th>Cost</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sessions.map((session) => (
          <Table.Tr key={session.id}>
            <Table.Td>{session.started_at ? <Time at={session.started_at} exact /> : 'not yet'}</Table.Td>
            <Table.Td>{statusTexts[session.status]}</Table.Td>
            <Table.Td>{session.operator_name}</Table.Td>
            <Table.Td>{session.duration_minutes === null ? '' : duration(session.duration_minutes)}</Table.Td>
            <Table.Td>
              {session.client_charge_cents === null ? '' : money(session.client_charge_cents)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
