import { Table } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { ChartRow } from './bars.tsx'
import { Section } from './section.tsx'
import { Loading } from './states.tsx'

const Bars = lazy(() => import('./bars.tsx'))

interface Props {
  readonly title: string
  readonly rows: readonly ChartRow[]
  /** What a value is of, as the picture names it: "Spent". */
  readonly unit: string
  readonly format: (value: number) => string
  /** Many rows: their figures are shown when they are asked for. */
  readonly folded?: boolean
}

/** A picture of some figures, and the figures themselves, which everybody can read. */
export const Chart = (props: Props) => (
  <Section title={props.title}>
    <Suspense fallback={<Loading />}>
      <Bars rows={props.rows} unit={props.unit} format={props.format} />
    </Suspense>
    {props.folded ? (
      <details>
        <summary>The figures as a table</summary>
        <Figures {...props} />
      </details>
    ) : (
      <Figures {...props} />
    )}
  </Section>
)

/** In the order of the picture. */
const Figures = ({ title, rows, format }: Props) => (
  <Table aria-label={title}>
    <Table.Tbody>
      {rows.map(({ label, value }) => (
        <Table.Tr key={label}>
          <Table.Th scope="row" fw={400} py={2}>
            {label}
          </Table.Th>
          <Table.Td py={2} ta="right">
            {format(value)}
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)
