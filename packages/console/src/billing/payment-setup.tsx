import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { webAddress } from '../ui/links.tsx'
import { Problem, QueryView } from '../ui/states.tsx'

/** Queries the owner profile, with billing data. */
function useClientProfile() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: keys.clientProfile,
    queryFn: () => answerOf(rest.GET('/api/client/profile')),
  })
}

/** Shows whether a payment method is saved, and links to the page of the payment provider. */
export function PaymentSetup() {
  const { rest } = usePlatform()
  const profile = useClientProfile()
  const portal = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/payments/portal')),
    // Opens in this tab, because browsers block a window that opens after a request.
    onSuccess: ({ url }) => {
      const address = webAddress(url)
      if (address) window.location.assign(address)
    },
    gcTime: 0,
  })
  if (isNotSetUp(portal.error)) return <NotSetUp />
  return (
    <QueryView query={profile}>
      {({ billing_ready }) => (
        <Stack>
          <Text maw={640}>{t(billing_ready ? 'billing.payment.saved' : 'billing.payment.missing')}</Text>
          <Text size="sm" c="dimmed" maw={640}>
            {t('billing.payment.privacy')}
          </Text>
          <Problem error={portal.error} />
          <Group>
            <Button onClick={() => portal.mutate()} loading={portal.isPending || portal.isSuccess}>
              {t(billing_ready ? 'billing.payment.change' : 'billing.payment.add')}
            </Button>
          </Group>
        </Stack>
      )}
    </QueryView>
  )
}

/** Returns whether payments are not configured, as opposed to a temporary outage of the provider. */
const isNotSetUp = (error: unknown) => error instanceof ApiError && error.code === 'payments_not_configured'

const NotSetUp = () => (
  <Alert variant="default" title={t('billing.payment.offTitle')} role="status">
    <Text size="sm">{t('billing.payment.offText')}</Text>
  </Alert>
)
