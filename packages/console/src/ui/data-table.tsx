import { Table, type TableProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'

type Column = string | { readonly label: string; readonly align: 'right' }

interface Props {
  /** The accessible name of the table. */
  readonly label: string
  readonly columns: readonly Column[]
  /** In pixels. A narrower table scrolls horizontally. */
  readonly minWidth?: number
  readonly verticalSpacing?: TableProps['verticalSpacing']
  /** Rows of `Table.Tr` with `Table.Td`. */
  readonly children: ReactNode
  /** Footer rows, such as sums. */
  readonly foot?: ReactNode
}

/** Renders a table with column headers. The keyboard can scroll a table that is wider than the screen. */
export function DataTable({ label, columns, minWidth, verticalSpacing, children, foot }: Props) {
  const table = (
    <Table aria-label={label} {...(verticalSpacing && { verticalSpacing })}>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => {
            const { label: name, align } =
              typeof column === 'string' ? { label: column, align: null } : column
            return (
              <Table.Th key={name} {...(align && { ta: align })}>
                {name}
              </Table.Th>
            )
          })}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
      {foot && <Table.Tfoot>{foot}</Table.Tfoot>}
    </Table>
  )
  if (minWidth === undefined) return table
  const viewportProps = { tabIndex: 0, role: 'group', 'aria-label': t('ui.table.scrollable', { label }) }
  return (
    <Table.ScrollContainer minWidth={minWidth} scrollAreaProps={{ viewportProps }}>
      {table}
    </Table.ScrollContainer>
  )
}
