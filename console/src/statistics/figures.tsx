import { Table } from '@mantine/core'
import type { ChartRow } from './labels.ts'

/** The figures of a chart as a table, in the order of the picture. */
export const Figures = (props: {
  title: string
  rows: readonly ChartRow[]
  unit: string
  format: (value: number) => string
}) => (
  <Table aria-label={props.title}>
    <Table.Tbody>
      {props.rows.map(({ label, value }) => (
        <Table.Tr key={label}>
          <Table.Th scope="row" fw={400} py={2}>
            {label}
          </Table.Th>
          <Table.Td py={2} ta="right">
            {props.format(value)}
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)
