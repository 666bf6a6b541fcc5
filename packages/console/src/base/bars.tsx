import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'

/** A bar of the chart and a row of its table. */
export interface ChartRow {
  readonly label: string
  readonly value: number
}

/** Draws a bar chart, hidden from screen readers. `Chart` adds a table with the same values. */
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
        // The wrapper drops further arguments.
        valueFormatter={(value) => props.format(value)}
        barProps={{ isAnimationActive: false }}
        // The hidden chart must not contain focusable elements.
        barChartProps={{ accessibilityLayer: false }}
        withYAxis={false}
        tickLine="none"
      />
    </div>
  )
}
