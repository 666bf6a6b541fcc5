import { Anchor, Button, Table } from '@mantine/core'
import { ApiError } from '@wheelhouse/sdk'
import { Attention } from '../home/attention.tsx'
import { DataTable, DescriptionItem, DescriptionList } from '../ui/data-table.tsx'
import { Section } from '../ui/section.tsx'
import { Empty, Loading, Problem } from '../ui/states.tsx'
import { inColumn } from './frames.tsx'
import type { GalleryBlock } from './gallery-state.ts'

const doNothing = () => undefined

const rows = [
  { robot: 'Bolt', operator: 'Grace', minutes: 42, cost: '€21.00' },
  { robot: 'Courier', operator: 'Ada', minutes: 7, cost: '€3.50' },
]

export const pageBlocks: readonly GalleryBlock[] = [
  {
    title: 'Empty state',
    use: 'Use it in place of a list without entries: say what will be here, and offer the next step.',
    states: [
      inColumn(
        'empty',
        'With an explanation',
        <Empty title="No live robots">Connect a robot to see it here.</Empty>,
      ),
      inColumn(
        'empty-action',
        'With an action',
        <Empty title="No robots yet" action={<Button>Register robot</Button>}>
          Register a robot to drive it from anywhere.
        </Empty>,
      ),
    ],
  },
  {
    title: 'Loading and errors',
    use: 'Use QueryView, which shows them; offer to try again only where that can help.',
    states: [
      inColumn('loading', 'Loading', <Loading />),
      inColumn('problem', 'Rejected', <Problem error={new ApiError(409, 'The robot is in a session.')} />),
      inColumn('problem-retry', 'No connection', <Problem error={new ApiError(0, '')} onRetry={doNothing} />),
      inColumn(
        'problem-forbidden',
        'Not allowed',
        <Problem error={new ApiError(403, 'Only the owner may do this.')} onRetry={doNothing} />,
      ),
    ],
  },
  {
    title: 'Table',
    use: 'Use it for records with several values; give it a minWidth if a phone is too narrow for it.',
    states: [
      inColumn(
        'table',
        'With figures and a sum',
        <DataTable
          label="Sessions"
          columns={[
            'Robot',
            'Operator',
            { label: 'Minutes', align: 'right' },
            { label: 'Cost', align: 'right' },
          ]}
          foot={
            <Table.Tr>
              <Table.Th colSpan={3}>Total</Table.Th>
              <Table.Th ta="right">€24.50</Table.Th>
            </Table.Tr>
          }
        >
          {rows.map(({ robot, operator, minutes, cost }) => (
            <Table.Tr key={robot}>
              <Table.Td>{robot}</Table.Td>
              <Table.Td>{operator}</Table.Td>
              <Table.Td ta="right">{minutes}</Table.Td>
              <Table.Td ta="right">{cost}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>,
      ),
    ],
  },
  {
    title: 'Section and description list',
    use: 'Use a section for each subject of a page, and a description list for the values of one record.',
    states: [
      inColumn(
        'description-list',
        'Values of a record',
        <Section title="Robot">
          <DescriptionList cols={2}>
            <DescriptionItem label="Type">rover-2</DescriptionItem>
            <DescriptionItem label="Drive time" size="lg">
              12 h 05 min
            </DescriptionItem>
          </DescriptionList>
        </Section>,
      ),
    ],
  },
  {
    title: 'Needs attention',
    use: 'Use it first on a home page: one line for each problem, most urgent first, with the action that helps.',
    states: [
      inColumn(
        'attention',
        'Two problems',
        <Attention
          title="Needs attention"
          none="Everything is fine."
          items={[
            {
              id: '1',
              label: 'Stopped',
              color: 'red.9',
              subject: <Anchor href="#">Ronja</Anchor>,
              detail: 'A person is in its way',
              action: <Button size="xs">Watch</Button>,
            },
            { id: '2', label: 'Paused', color: 'orange.9', subject: <Anchor href="#">Bolt</Anchor> },
          ]}
        />,
      ),
      inColumn(
        'attention-none',
        'No problem',
        <Attention title="Needs attention" none="Everything is fine." items={[]} />,
      ),
    ],
  },
]
