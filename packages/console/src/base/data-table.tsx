import { Button, Center, SimpleGrid, type SimpleGridProps, Table, type TableProps, Text } from '@mantine/core'
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

/** Renders a grid of labelled values. Its children are `DescriptionItem`s. */
export const DescriptionList = ({
  cols,
  children,
}: {
  cols: SimpleGridProps['cols']
  children: ReactNode
}) => (
  <SimpleGrid component="dl" {...(cols && { cols })} m={0}>
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

interface Pages {
  readonly error: unknown
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  fetchNextPage(): Promise<unknown>
}

/** Loads the next page of a list, if there is one, and shows the error if that fails. */
export const MoreButton = ({ query, children }: { query: Pages; children: ReactNode }) => (
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
