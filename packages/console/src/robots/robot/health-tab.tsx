import { Stack, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../../platform/platform.ts'
import { keys } from '../../platform/queries.ts'
import { reasonText } from '../../texts/code-texts.ts'
import { percent } from '../../texts/percent.ts'
import { language, t } from '../../texts/texts.ts'
import { DataTable, DescriptionItem, DescriptionList } from '../../ui/data-table.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
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
          <Section title={t('robots.health.lastDay')}>
            <Summary health={health} toMs={query.dataUpdatedAt} />
          </Section>
          <Section title={t('robots.health.incidents')}>
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
        <DescriptionItem label={t('robots.health.connected')}>
          {percent(connectedShare(spans, fromMs, toMs))}
        </DescriptionItem>
        <DescriptionItem label={t('robots.health.lowestBattery')}>
          {charges.length === 0 ? t('robots.health.notReported') : percent(Math.min(...charges))}
        </DescriptionItem>
        <DescriptionItem label={t('robots.health.highestBattery')}>
          {charges.length === 0 ? t('robots.health.notReported') : percent(Math.max(...charges))}
        </DescriptionItem>
        <DescriptionItem label={t('robots.health.stops')}>
          {stops.length.toLocaleString(language)}
        </DescriptionItem>
      </DescriptionList>
      <HealthChart fromMs={fromMs} toMs={toMs} spans={spans} incidents={health.incidents} />
    </>
  )
}

type Incident = RobotHealth['incidents'][number]

const incidentTexts: Record<Incident['type'], string> = {
  'session.stopped': t('robots.health.stopped'),
  'robot.lost': t('robots.health.lost'),
  'robot.back': t('robots.health.reconnected'),
}

function Incidents({ incidents }: { incidents: readonly Incident[] }) {
  if (incidents.length === 0) return <Empty title={t('robots.health.emptyTitle')} />
  return (
    <DataTable
      label={t('robots.health.label')}
      minWidth={480}
      columns={[
        t('robots.health.time'),
        t('robots.health.incident'),
        t('robots.health.by'),
        t('robots.health.reason'),
      ]}
    >
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
