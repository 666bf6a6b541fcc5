import { Button, Group, List, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { Problem, QueryView } from '../ui/states.tsx'
import { requirementLabel } from './payout-labels.ts'

type Account = Schemas['PayoutAccount']

/** How the account at the payment provider stands, and the way to its page. */
export function PayoutAccount() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.payouts, 'account'],
    queryFn: () => answerOf(rest.GET('/api/payments/connect')),
  })
  return (
    <Section title="Payout account">
      <QueryView query={query}>{(account) => <AccountStatus account={account} />}</QueryView>
    </Section>
  )
}

function AccountStatus({ account }: { account: Account }) {
  const missing = [...new Set(account.requirements.map(requirementLabel))]
  return (
    <>
      <Text>{sentenceOf(account)}</Text>
      {missing.length > 0 && (
        <div>
          <Text>The payment provider still wants to know:</Text>
          <List>
            {missing.map((requirement) => (
              <List.Item key={requirement}>{requirement}</List.Item>
            ))}
          </List>
        </div>
      )}
      <ToProvider label={labelOf(account)} />
    </>
  )
}

function sentenceOf({ connected, payoutsEnabled, requirements }: Account): string {
  if (!connected)
    return 'You have none yet. You set it up on the page of the payment provider, which pays you.'
  if (payoutsEnabled) return 'It is ready: your earnings can be paid out.'
  return requirements.length > 0
    ? 'It is not complete yet.'
    : 'The payment provider is checking what you told it. There is nothing for you to do.'
}

const labelOf = ({ connected, payoutsEnabled }: Account) =>
  connected ? (payoutsEnabled ? 'Change it at the provider' : 'Go on at the provider') : 'Set up payouts'

/** Leads to the provider's page, which leads back. */
function ToProvider({ label }: { label: string }) {
  const { rest } = usePlatform()
  const open = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/payments/connect')),
    onSuccess: ({ url }) => window.location.assign(url),
  })
  const needsCountry = open.error instanceof ApiError && open.error.status === 409
  return (
    <>
      <Problem error={open.error} />
      <Group>
        {/* The page of the provider is being loaded while this one is still shown. */}
        <Button loading={open.isPending || open.isSuccess} onClick={() => open.mutate()}>
          {label}
        </Button>
        {needsCountry && <LinkAnchor to="/settings">Your operator profile</LinkAnchor>}
      </Group>
    </>
  )
}
