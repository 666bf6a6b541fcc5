import { Badge, Table, Text } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { payoutStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { money } from '../ui/format.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'

type Payout = Schemas['Payout']

const colors = { PENDING: 'orange.9', PAID: 'teal.9', FAILED: 'red.9' } as const

/** Lists payouts, newest first. */
export function PayoutList({ payouts }: { payouts: readonly Payout[] }) {
  if (payouts.length === 0) return <Empty title={t('operator.payouts.emptyTitle')} />
  return (
    <DataTable
      label={t('operator.payouts.title')}
      minWidth={520}
      columns={[
        t('operator.payouts.requested'),
        { label: t('operator.payouts.amount'), align: 'right' },
        t('operator.payouts.status'),
        t('operator.payouts.settled'),
      ]}
    >
      {payouts.map((payout) => (
        <Row key={payout.id} payout={payout} />
      ))}
    </DataTable>
  )
}

function Row({ payout }: { payout: Payout }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Time at={payout.createdAt} exact />
      </Table.Td>
      <Table.Td ta="right">{money(payout.amountCents)}</Table.Td>
      <Table.Td>
        <Badge color={colors[payout.status]}>{payoutStatusTexts[payout.status]}</Badge>
        <Text size="sm" c="dimmed">
          {explanationOf(payout)}
        </Text>
      </Table.Td>
      <Table.Td>
        {payout.settledAt ? <Time at={payout.settledAt} exact /> : t('operator.payouts.notSettled')}
      </Table.Td>
    </Table.Tr>
  )
}

function explanationOf({ status, failure }: Payout): string {
  if (status === 'PENDING') return t('operator.payouts.pending')
  if (status === 'PAID') return ''
  return failure ? t('operator.payouts.failedFor', { reason: failure }) : t('operator.payouts.failed')
}
