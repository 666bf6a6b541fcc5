import { Stack, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reasonText } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../../api/keys.ts'
import { usePlatform } from '../../app/platform.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { percent } from '../../ui/percent.ts'
import { Section } from '../../ui/section.tsx'
import { Empty, QueryView } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { RobotDetail } from '../use-robots.ts'
import { HealthChart } from './health-chart.tsx'
import { connectedShare, connectedSpans, type RobotHealth } from './health-series.ts'

/** Samples arrive every five minutes. Stops are announced and refetch at once. */
const POLL_MS = 60_000

/** Shows battery, connection, stops and losses of the last 24 hours. */
export function HealthTab({ robot }: { robot: RobotDetail }) {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.robots, 'health', robot.id],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/client/robots/{id}/health', { params: { path: { id: robot.id } }, signal })),
    refetchInterval: POLL_MS,
  })
  return (
    <QueryView query={query}>
      {(health) => (
        <Stack>
          <Section title="Last 24 hours">
            <Summary health={health} toMs={query.dataUpdatedAt} />
          </Section>
          <Section title="Stops and losses">
            <Incidents incidents={health.incidents} />
          </Section>
        </Stack>
      )}
    </QueryView>
  )
}

function Summary({ health, toMs }: { health: RobotHealth; toMs: number }) {
  const fromMs = Date.parse(health.since)
  const spans = connectedSpans(health.samples)
  const charges = spans.flatMap((span) => span.charges.map(({ battery }) => battery))
  const stops = health.incidents.filter(({ type }) => type === 'session.stopped')
  return (
    <>
      <DescriptionList cols={{ base: 1, xs: 2, md: 4 }}>
        <DescriptionItem label="Connected">{percent(connectedShare(spans, fromMs, toMs))}</DescriptionItem>
        <DescriptionItem label="Lowest battery">
          {charges.length === 0 ? 'not reported' : percent(Math.min(...charges))}
        </DescriptionItem>
        <DescriptionItem label="Highest battery">
          {charges.length === 0 ? 'not reported' : percent(Math.max(...charges))}
        </DescriptionItem>
        <DescriptionItem label="Stops">{new Intl.NumberFormat().format(stops.length)}</DescriptionItem>
      </DescriptionList>
      <HealthChart fromMs={fromMs} toMs={toMs} spans={spans} incidents={health.incidents} />
    </>
  )
}

type Incident = RobotHealth['incidents'][number]

const incidentTexts: Record<Incident['type'], string> = {
  'session.stopped': 'Stopped',
  'robot.lost': 'Connection lost',
  'robot.back': 'Reconnected',
}

function Incidents({ incidents }: { incidents: readonly Incident[] }) {
  if (incidents.length === 0) return <Empty title="No stops and no losses" />
  return (
    <DataTable label="Stops and losses" minWidth={480} columns={['Time', 'Incident', 'By', 'Reason']}>
      {incidents.map(({ type, at, session_id, actor_name, reason }) => (
        <Table.Tr key={`${session_id} ${at} ${type}`}>
          <Table.Td>
            <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session_id }} inherit>
              <Time at={at} exact />
            </LinkAnchor>
          </Table.Td>
          <Table.Td>{incidentTexts[type]}</Table.Td>
          <Table.Td>{actor_name}</Table.Td>
          <Table.Td>{type === 'session.stopped' && reasonText(reason)}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  )
}
