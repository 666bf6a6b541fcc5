import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import type { ChartRow } from './labels.ts'

/** Figures as bars, for the eye alone: `Figures` says the same to everybody. */
export default function Bars(props: {
  rows: readonly ChartRow[]
  unit: string
  format: (value: number) => string
}) {
  return (
    <div aria-hidden="true">
      <BarChart
        h={220}
        data={props.rows.map(({ label, value }) => ({ label, [props.unit]: value }))}
        dataKey="label"
        series={[{ name: props.unit, color: 'blue.8' }]}
        valueFormatter={props.format}
        barProps={{ isAnimationActive: false }}
        // Nothing to focus in what is hidden from assistive technology.
        barChartProps={{ accessibilityLayer: false }}
        withYAxis={false}
        tickLine="none"
      />
    </div>
  )
}
