import { Button, Group, List, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { Problem, QueryView } from '../ui/states.tsx'

/** Labels of the payment provider's requirements, by the end of their names. */
const labels: Readonly<Record<string, string>> = {
  date_of_birth: t('operator.requirements.dateOfBirth'),
  default_outbound_destination: t('operator.requirements.bankAccount'),
  external_account: t('operator.requirements.bankAccount'),
  given_name: t('operator.requirements.firstName'),
  surname: t('operator.requirements.lastName'),
  email: t('operator.requirements.email'),
  phone: t('operator.requirements.phone'),
  address: t('operator.requirements.address'),
  id_numbers: t('operator.requirements.idNumber'),
  'verification.document': t('operator.requirements.document'),
  document: t('operator.requirements.document'),
  'documents.primary_verification': t('operator.requirements.document'),
  tos_acceptance: t('operator.requirements.terms'),
  'terms_of_service.account': t('operator.requirements.terms'),
}

/** Returns the label of a requirement such as `identity.individual.date_of_birth`. An unknown name becomes words. */
function requirementLabel(name: string): string {
  const parts = name.split('.')
  for (let from = 0; from < parts.length; from++) {
    const known = labels[parts.slice(from).join('.')]
    if (known) return known
  }
  const address = parts.includes('address') ? labels.address : undefined
  return address ?? sentence(parts.at(-1) ?? name)
}

const sentence = (word: string): string => {
  const text = word.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

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
