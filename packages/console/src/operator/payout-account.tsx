import { Button, Group, List, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { Problem, QueryView } from '../ui/states.tsx'
import { requirementLabel } from './payout-labels.ts'

type Account = Schemas['PayoutAccount']

/** Shows the status of the account at the payment provider, and links to its page. */
export function PayoutAccount() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.payouts, 'account'],
    queryFn: () => answerOf(rest.GET('/api/payments/connect')),
  })
  return (
    <Section title={t('operator.payoutAccount.title')}>
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
          <Text>{t('operator.payoutAccount.missing')}</Text>
          <List>
            {missing.map((requirement) => (
              <List.Item key={requirement}>{requirement}</List.Item>
            ))}
          </List>
        </div>
      )}
      <ProviderButton label={labelOf(account)} />
    </>
  )
}

function sentenceOf({ connected, payoutsEnabled, requirements }: Account): string {
  if (!connected) return t('operator.payoutAccount.none')
  if (payoutsEnabled) return t('operator.payoutAccount.ready')
  return requirements.length > 0
    ? t('operator.payoutAccount.incomplete')
    : t('operator.payoutAccount.inReview')
}

const labelOf = ({ connected, payoutsEnabled }: Account) =>
  connected
    ? payoutsEnabled
      ? t('operator.payoutAccount.change')
      : t('operator.payoutAccount.continue')
    : t('operator.payoutAccount.setUp')

/** Opens the page of the payment provider, which returns here. */
function ProviderButton({ label }: { label: string }) {
  const { rest } = usePlatform()
  const open = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/payments/connect')),
    onSuccess: ({ url }) => window.location.assign(url),
  })
  const needsCountry = open.error instanceof ApiError && open.error.code === 'country_missing'
  return (
    <>
      <Problem error={open.error} />
      <Group>
        {/* Stays loading until the browser has left this page. */}
        <Button loading={open.isPending || open.isSuccess} onClick={() => open.mutate()}>
          {label}
        </Button>
        {needsCountry && <LinkAnchor to="/settings">{t('operator.payoutAccount.editProfile')}</LinkAnchor>}
      </Group>
    </>
  )
}
