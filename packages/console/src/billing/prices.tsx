import { Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { money } from '../ui/format.ts'
import { Empty, QueryView } from '../ui/states.tsx'

/** Shows the public price list. */
export function Prices() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: keys.pricing,
    queryFn: () => answerOf(rest.GET('/api/public/pricing')),
  })
  return (
    <Stack>
      <Text maw={640}>{t('billing.prices.note')}</Text>
      <QueryView
        query={query}
        isEmpty={({ plans }) => plans.length === 0}
        empty={<Empty title={t('billing.prices.emptyTitle')} />}
      >
        {({ plans, currency }) => (
          <DataTable
            label={t('billing.prices.label')}
            columns={[t('billing.prices.plan'), t('billing.prices.perMinute')]}
          >
            {plans.map((plan) => (
              <Table.Tr key={plan.id}>
                <Table.Td>
                  <Text fw={600}>{plan.name}</Text>
                  <Text size="sm" c="dimmed">
                    {plan.description}
                  </Text>
                </Table.Td>
                <Table.Td>{money(plan.client_rate_cents_per_minute, currency)}</Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryView>
    </Stack>
  )
}
