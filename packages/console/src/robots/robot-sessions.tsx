import { Group, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { StatusBadge } from '../session/status-badge.tsx'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { duration, money } from '../ui/format.ts'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import type { Robot } from './use-robots.ts'

type Session = Schemas['ClientSession'] | Schemas['OperatorSession']

const SHOWN = 10

/** Lists the latest sessions of a robot and links to all of them. */
export function RobotSessions({ robot }: { robot: Robot }) {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'of-robot', robot.id],
    queryFn: () =>
      answerOf(rest.GET('/api/sessions', { params: { query: { robotId: robot.id, limit: SHOWN } } })),
  })
  return (
    <QueryView
      query={query}
      isEmpty={({ sessions }) => sessions.length === 0}
      empty={<Empty title={t('robots.sessions.emptyTitle')} />}
    >
      {({ sessions }) => (
        <>
          <SessionTable sessions={sessions} />
          <Group>
            <LinkButton to="/sessions" search={{ robot: robot.id }} variant="default" size="xs">
              {t('robots.sessions.all')}
            </LinkButton>
          </Group>
        </>
      )}
    </QueryView>
  )
}

const SessionTable = ({ sessions }: { sessions: readonly Session[] }) => (
  <DataTable
    label={t('robots.sessions.label')}
    minWidth={560}
    columns={[
      t('robots.sessions.created'),
      t('robots.sessions.status'),
      t('robots.sessions.operator'),
      t('robots.sessions.duration'),
      t('robots.sessions.cost'),
    ]}
  >
    {sessions.map((session) => (
      <Table.Tr key={session.id}>
        <Table.Td>
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }} inherit>
            <Time at={session.created_at} exact />
          </LinkAnchor>
        </Table.Td>
        <Table.Td>
          <StatusBadge status={session.status} />
        </Table.Td>
        <Table.Td>{session.operator_name}</Table.Td>
        <Table.Td>{session.duration_minutes === null ? '' : duration(session.duration_minutes)}</Table.Td>
        <Table.Td>{session.client_charge_cents === null ? '' : money(session.client_charge_cents)}</Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
