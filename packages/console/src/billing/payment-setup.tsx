import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../app/platform.ts'
import { Problem, QueryView } from '../ui/states.tsx'
import { webAddress } from '../ui/web-address.ts'
import { useClientProfile } from './use-client-profile.ts'

/** Whether a payment method is saved, what follows from that, and the way to the provider's page. */
export function PaymentSetup() {
  const { rest } = usePlatform()
  const profile = useClientProfile()
  const portal = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/payments/portal')),
    // In this tab: a window that opens after an answer has come is held back by browsers.
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
              ? 'A payment method is saved. Each month’s invoice is charged to it by itself.'
              : 'No payment method is saved. Each month’s invoice is sent to you by mail, to be paid within 14 days.'}
          </Text>
          <Text size="sm" c="dimmed" maw={640}>
            Cards and bank accounts are kept by the payment provider; this platform never sees them.
          </Text>
          <Problem error={portal.error} />
          <Group>
            <Button onClick={() => portal.mutate()} loading={portal.isPending || portal.isSuccess}>
              {billing_ready ? 'Change how you pay' : 'Save a payment method'}
            </Button>
          </Group>
        </Stack>
      )}
    </QueryView>
  )
}

/** Told apart from a provider that is away for a moment, which is worth another try. */
const isNotSetUp = (error: unknown) =>
  error instanceof ApiError && error.status === 503 && /not set up/.test(error.message)

const NotSetUp = () => (
  <Alert variant="default" title="Payments are not set up on this platform" role="status">
    <Text size="sm">
      Nothing is charged here. Sessions are counted and invoices made all the same, for you to see; ask
      whoever runs this platform how they are settled.
    </Text>
  </Alert>
)
