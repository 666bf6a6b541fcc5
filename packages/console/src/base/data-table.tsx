import {
  Button,
  Center,
  SimpleGrid,
  type SimpleGridProps,
  Stack,
  Table,
  type TableProps,
  type TableTdProps,
  type TableTrProps,
  Text,
} from '@mantine/core'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import { Problem } from './states.tsx'

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
          {columns.map((column) => (
            <Table.Th key={labelOf(column)} {...alignment(column)}>
              {labelOf(column)}
            </Table.Th>
          ))}
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

/** A column of a table: its header, what it shows of a row, and the properties of its cells. */
export type TableColumn<Row> = readonly [
  header: Column,
  cell: (row: Row) => ReactNode,
  properties?: Readonly<TableTdProps>,
]

interface RowTableProps<Row> extends Omit<Props, 'columns' | 'children'> {
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  /** Identifies a row; by default its `id`. */
  readonly keyOf?: (row: Row) => string | number
  readonly rowProps?: (row: Row) => TableTrProps & { readonly [name: `data-${string}`]: string }
}

export const RowTable = <Row extends object>({
  columns,
  rows,
  keyOf = (row) => ('id' in row ? String(row.id) : ''),
  rowProps,
  ...table
}: RowTableProps<Row>) => (
  <DataTable {...table} columns={columns.map(([header]) => header)}>
    {rows.map((row) => (
      <Table.Tr key={keyOf(row)} {...rowProps?.(row)}>
        {columns.map(([header, cell, properties]) => (
          <Table.Td key={labelOf(header)} {...alignment(header)} {...properties}>
            {cell(row)}
          </Table.Td>
        ))}
      </Table.Tr>
    ))}
  </DataTable>
)

const labelOf = (column: Column) => (typeof column === 'string' ? column : column.label)
const alignment = (column: Column) => (typeof column === 'string' ? {} : { ta: column.align })

/** The style of a text that users wrote, with its lines. */
export const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** Lists records below each other. */
export const PlainList = <Row extends { readonly id: string }>(props: {
  rows: readonly Row[]
  gap?: 'xs' | 'sm'
  children: (row: Row) => ReactNode
}) => (
  <Stack component="ul" gap={props.gap ?? 'sm'} m={0} p={0} style={{ listStyle: 'none' }}>
    {props.rows.map((row) => (
      <li key={row.id}>{props.children(row)}</li>
    ))}
  </Stack>
)

interface DescriptionListProps {
  readonly cols: SimpleGridProps['cols']
  /** Emphasizes the values. */
  readonly size?: 'lg' | 'xl'
  /** The values by their labels. */
  readonly items?: Readonly<Record<string, ReactNode>>
  /** `DescriptionItem`s. */
  readonly children?: ReactNode
}

export const DescriptionList = ({ cols, size, items = {}, children }: DescriptionListProps) => (
  <SimpleGrid component="dl" {...(cols && { cols })} m={0}>
    {Object.entries(items).map(([label, value]) => (
      <DescriptionItem key={label} label={label} size={size}>
        {value}
      </DescriptionItem>
    ))}
    {children}
  </SimpleGrid>
)

/** Renders a labelled value. `size` emphasizes the value. */
export const DescriptionItem = (props: { label: string; size?: 'lg' | 'xl'; children: ReactNode }) => (
  <div style={{ overflowWrap: 'anywhere' }}>
    <Text component="dt" size="sm" c="dimmed">
      {props.label}
    </Text>
    <Text component="dd" m={0} {...(props.size && { size: props.size, fw: 600 })}>
      {props.children}
    </Text>
  </div>
)

/** Loads the next page of a list, if there is one, and shows the error if that fails. */
export const MoreButton = ({ query, children }: { query: UseInfiniteQueryResult; children: ReactNode }) => (
  <>
    {query.isFetchNextPageError && <Problem error={query.error} />}
    {query.hasNextPage && (
      <Center data-no-print>
        <Button
          variant="default"
          onClick={() => void query.fetchNextPage()}
          loading={query.isFetchingNextPage}
        >
          {children}
        </Button>
      </Center>
    )}
  </>
)
