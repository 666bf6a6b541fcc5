import { Alert, SimpleGrid, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { Section } from '../ui/section.tsx'
import { QueryView } from '../ui/states.tsx'
import { PayoutAccount } from './payout-account.tsx'
import { PayoutForm } from './payout-form.tsx'
import { PayoutList } from './payout-list.tsx'

const REFETCH_INTERVAL_MS = 15_000
const MAX_RETRIES = 3

/** Returns whether payments are not configured, as opposed to a temporary outage of the provider. */
const isNotSetUp = (error: unknown) => error instanceof ApiError && error.code === 'payments_not_configured'

/** Shows payout account, payout form and past payouts. */
export function Payments() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: keys.payouts,
    queryFn: () => answerOf(rest.GET('/api/payments/payout')),
    retry: (count, error) => count < MAX_RETRIES && !isNotSetUp(error),
    refetchInterval: ({ state }) => (state.data && state.data.pendingCents > 0 ? REFETCH_INTERVAL_MS : false),
  })
  if (isNotSetUp(query.error)) return <NotSetUp />
  return (
    <QueryView query={query}>
      {(overview) => (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <PayoutAccount />
            <PayoutForm overview={overview} />
          </SimpleGrid>
          <Section title={t('operator.payouts.title')}>
            <PayoutList payouts={overview.payouts} />
          </Section>
        </>
      )}
    </QueryView>
  )
}

const NotSetUp = () => (
  <Alert color="gray" variant="outline" title={t('operator.payments.notSetUp')}>
    <Text size="sm">{t('operator.payments.notSetUpNote')}</Text>
  </Alert>
)
