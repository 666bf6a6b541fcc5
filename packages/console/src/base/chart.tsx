import { Table } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { t } from '../texts/texts.ts'
import type { BarsProps } from './bars.tsx'
import { Section } from './section.tsx'
import { Loading } from './states.tsx'

const Bars = lazy(() => import('./bars.tsx'))

interface Props extends BarsProps {
  readonly title: string
  /** Collapses the table, for charts with many rows. */
  readonly folded?: boolean
}

/** Shows a bar chart and an accessible table of its values. */
export const Chart = (props: Props) => (
  <Section title={props.title}>
    <Suspense fallback={<Loading />}>
      <Bars rows={props.rows} unit={props.unit} format={props.format} />
    </Suspense>
    {props.folded ? (
      <details>
        <summary>{t('ui.chart.showTable')}</summary>
        <Figures {...props} />
      </details>
    ) : (
      <Figures {...props} />
    )}
  </Section>
)

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
