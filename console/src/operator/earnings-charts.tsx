import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { Card, SimpleGrid, Stack, Table, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useId } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { money } from '../ui/format.ts'
import { Empty, QueryView } from '../ui/states.tsx'
import { DAYS, earningsByDay } from './earnings-by-day.ts'

type Counts = Schemas['OperatorStats']['sessions_by_status']

const statuses = [
  ['COMPLETED', 'Completed'],
  ['CANCELLED', 'Cancelled'],
  ['PENDING', 'Planned'],
  ['ACTIVE', 'Active'],
  ['PAUSED', 'Paused'],
] as const

/** Pictures of the last weeks. Loaded for itself, since charts are heavy. */
export default function EarningsCharts({ sessionsByStatus }: { sessionsByStatus: Counts }) {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'earnings-by-day'],
    queryFn: () => earningsByDay(rest),
  })
  const rows = statuses.map(([status, label]) => ({ label, value: sessionsByStatus[status] }))
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <QueryView
        query={query}
        isEmpty={(days) => days.every(({ sessions }) => sessions === 0)}
        empty={<Empty title={`No completed session in the last ${DAYS} days`} />}
      >
        {(days) => (
          <Chart
            title={`Earnings of the last ${DAYS} days`}
            columns={['Day', 'Earnings']}
            rows={days.map(({ day, cents }) => ({ label: dayName(day), value: cents }))}
            format={money}
          />
        )}
      </QueryView>
      {rows.some(({ value }) => value > 0) && (
        <Chart title="Your sessions" columns={['State', 'Sessions']} rows={rows} format={String} />
      )}
    </SimpleGrid>
  )
}

const dayName = (day: Date) =>
  new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }).format(day)

interface ChartProps {
  readonly title: string
  readonly columns: readonly [string, string]
  readonly rows: readonly { readonly label: string; readonly value: number }[]
  readonly format: (value: number) => string
}

/** Bars, and the same figures as a table for whoever cannot see them, or wants to know exactly. */
const Chart = ({ title, columns, rows, format }: ChartProps) => (
  <ChartCard title={title}>
    <div aria-hidden>
      <BarChart
        h={220}
        data={rows.map(({ label, value }) => ({ label, [columns[1]]: value }))}
        dataKey="label"
        series={[{ name: columns[1], color: 'teal.7' }]}
        // It is given more than the value.
        valueFormatter={(value) => format(value)}
        yAxisProps={{ width: 72, allowDecimals: false }}
        // The table says it to screen readers; a picture that takes the focus would say nothing.
        barChartProps={{ accessibilityLayer: false }}
        tickLine="none"
      />
    </div>
    <details>
      <summary>The figures as a table</summary>
      <Table aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{columns[0]}</Table.Th>
            <Table.Th ta="right">{columns[1]}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ label, value }) => (
            <Table.Tr key={label}>
              <Table.Td>{label}</Table.Td>
              <Table.Td ta="right">{format(value)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </details>
  </ChartCard>
)

function ChartCard({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <Card withBorder component="section" aria-labelledby={id}>
      <Stack>
        <Title order={2} id={id}>
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  )
}
