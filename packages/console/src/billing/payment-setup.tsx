import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../app/platform.ts'
import { Problem, QueryView } from '../ui/states.tsx'
import { webAddress } from '../ui/web-address.ts'
import { useClientProfile } from './use-client-profile.ts'

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
          <Text maw={640}>
            {billing_ready
              ? 'A payment method is saved. Monthly invoices are charged automatically.'
              : 'No payment method saved. Monthly invoices are sent by e-mail and due within 14 days.'}
          </Text>
          <Text size="sm" c="dimmed" maw={640}>
            The payment provider stores cards and bank accounts. This platform never sees them.
          </Text>
          <Problem error={portal.error} />
          <Group>
            <Button onClick={() => portal.mutate()} loading={portal.isPending || portal.isSuccess}>
              {billing_ready ? 'Change payment method' : 'Add payment method'}
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
  <Alert variant="default" title="Payments are not set up on this platform" role="status">
    <Text size="sm">
      Nothing is charged here. Sessions still appear on invoices. Ask the administrator of this platform how
      to pay them.
    </Text>
  </Alert>
)
