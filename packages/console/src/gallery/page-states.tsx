import { Anchor, Button, Stack, Table, TextInput } from '@mantine/core'
import { ApiError } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable, DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { FormFooter } from '../base/form.tsx'
import { CopyableSecret } from '../base/secret.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Loading, Problem } from '../base/states.tsx'
import { Attention } from '../home/owner-home.tsx'
import { block, inColumn, shown } from './frames.tsx'

const doNothing = () => undefined

const rows = [
  { robot: 'Bolt', operator: 'Grace', minutes: 42, cost: '€21.00' },
  { robot: 'Courier', operator: 'Ada', minutes: 7, cost: '€3.50' },
]

const succeed = async () => undefined
const change = { error: undefined, isPending: false, isSuccess: false }

export const pageBlocks = [
  block(
    'Empty state',
    'Use it in place of a list without entries: say what will be here, and offer the next step.',
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
  ),
  block(
    'Loading and errors',
    'Use QueryView, which shows them; offer to try again only where that can help.',
    inColumn('loading', 'Loading', <Loading />),
    inColumn('problem', 'Rejected', <Problem error={new ApiError(409, 'The robot is in a session.')} />),
    inColumn('problem-retry', 'No connection', <Problem error={new ApiError(0, '')} onRetry={doNothing} />),
    inColumn(
      'problem-forbidden',
      'Not allowed',
      <Problem error={new ApiError(403, 'Only the owner may do this.')} onRetry={doNothing} />,
    ),
  ),
  block(
    'Table',
    'Use it for records with several values; give it a minWidth if a phone is too narrow for it.',
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
  ),
  block(
    'Section and description list',
    'Use a section for each subject of a page, and a description list for the values of one record.',
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
  ),
  block(
    'Needs attention',
    'Use it first on a home page: one line for each problem, most urgent first, with the action that helps.',
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
            shape: 'blind',
            subject: <Anchor href="#">Ronja</Anchor>,
            detail: 'A person is in its way',
            action: <Button size="xs">Watch</Button>,
          },
          { id: '2', label: 'Paused', shape: 'delayed', subject: <Anchor href="#">Bolt</Anchor> },
        ]}
      />,
    ),
    inColumn(
      'attention-none',
      'No problem',
      <Attention title="Needs attention" none="Everything is fine." items={[]} />,
    ),
  ),
  {
    title: 'Dialogs',
    use: 'Use them before an action that cannot be undone: name the consequence, and label the button with the action.',
    states: [
      shown(
        'dialog-confirm',
        'Confirmation',
        <ConfirmButton
          question="End this session?"
          consequence="The robot stops and becomes available. The charge is final. You cannot undo this."
          confirmLabel="End session"
          onConfirm={succeed}
        >
          End
        </ConfirmButton>,
        { opensDialog: true },
      ),
      shown(
        'dialog-reason',
        'With a reason',
        <ConfirmButton
          asksReason
          question="Reject this request?"
          consequence="The operator is notified and sees the reason."
          confirmLabel="Reject"
          onConfirm={succeed}
        >
          Reject
        </ConfirmButton>,
        { opensDialog: true },
      ),
    ],
  },
  block(
    'Forms',
    'Use a footer for each form, and show the error of a field at the field.',
    inColumn(
      'form-field-error',
      'Error of a field',
      <TextInput
        label="Contact email"
        description="Only operators of your sessions see it."
        error="Enter an e-mail address, such as ada@example.com."
        defaultValue="ada"
      />,
    ),
    inColumn('form-footer', 'Footer', <FormFooter change={change} />),
    inColumn('form-footer-saved', 'Footer, saved', <FormFooter change={{ ...change, isSuccess: true }} />),
    inColumn(
      'form-footer-error',
      'Footer, with an error',
      <Stack>
        <FormFooter change={{ ...change, error: new ApiError(500, 'Internal error') }} />
      </Stack>,
    ),
  ),
  block(
    'Secret',
    'Use it for a value to copy, such as a token or a command; a token is shown once.',
    inColumn(
      'secret',
      'Command',
      <CopyableSecret label="Command" value="node robot.mjs https://hub.example" />,
    ),
  ),
]
