import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'

export interface BarsProps {
  /** The bars of the chart, and the rows of its table. */
  readonly rows: readonly { readonly label: string; readonly value: number }[]
  /** The name of the values in the chart, such as "Spent". */
  readonly unit: string
  readonly format: (value: number) => string
}

/** Draws a bar chart, hidden from screen readers. `Chart` adds a table with the same values. */
export default function Bars(props: BarsProps) {
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
