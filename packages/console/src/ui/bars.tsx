import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'

/** One bar, one row. */
export interface ChartRow {
  readonly label: string
  readonly value: number
}

/** Figures as bars, for the eye alone: `Chart` says the same to everybody. */
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
        // It is given more than the value.
        valueFormatter={(value) => props.format(value)}
        barProps={{ isAnimationActive: false }}
        // Nothing to focus in what is hidden from assistive technology.
        barChartProps={{ accessibilityLayer: false }}
        withYAxis={false}
        tickLine="none"
      />
    </div>
  )
}
