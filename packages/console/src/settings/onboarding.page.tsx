import { Button, Card, Container, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Loading, Problem, QueryView } from '../base/states.tsx'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { signOut } from '../platform/sign-out.ts'
import { t } from '../texts/texts.ts'
import { ClientProfileForm, OperatorProfileForm } from './profile-forms.tsx'
import { useFirstNotificationSettings, useProfileChange } from './use-profile-change.ts'

const roleChoices = [
  {
    role: 'operator',
    title: t('onboarding.operator.title'),
    text: t('onboarding.operator.text'),
    actionLabel: t('onboarding.operator.continue'),
  },
  {
    role: 'client',
    title: t('onboarding.owner.title'),
    text: t('onboarding.owner.text'),
    actionLabel: t('onboarding.owner.continue'),
  },
] as const

const profiles = {
  client_profile: [t('onboarding.page.ownerProfile'), ClientProfileForm],
  operator_profile: [t('onboarding.page.operatorProfile'), OperatorProfileForm],
} as const

/** Asks a new user for a role, then for the profile of that role. */
export default function OnboardingPage() {
  const queries = useQueryClient()
  useFirstNotificationSettings()
  const query = useRead(keys.onboarding, (rest) => rest.GET('/api/auth/check-onboarding'))
  const complete = query.data?.onboarded === true
  const refreshProfile = () => queries.invalidateQueries({ queryKey: keys.profile })
  // biome-ignore lint/correctness/useExhaustiveDependencies: refreshes the account once onboarding is complete
  useEffect(() => {
    if (complete) void refreshProfile()
  }, [complete])
  const onSaved = () => void queries.invalidateQueries({ queryKey: keys.onboarding })
  return (
    <Container component="main" size="sm" py="xl">
      <Stack gap="lg">
        <QueryView query={query}>
          {({ missing }) => {
            const [step] = missing
            if (step === 'role') return <ChooseRole />
            if (step === undefined) return <Loading />
            const [title, Fields] = profiles[step]
            return (
              <Step title={title}>
                <Fields onSaved={onSaved} />
              </Step>
            )
          }}
        </QueryView>
        <Group>
          <LinkButton to="/invitation" variant="subtle">
            {t('onboarding.page.invitation')}
          </LinkButton>
          <Button variant="subtle" onClick={() => void signOut()}>
            {t('onboarding.page.signOut')}
          </Button>
        </Group>
      </Stack>
    </Container>
  )
}

const Step = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <>
    <Title order={1}>{title}</Title>
    {children}
  </>
)

function ChooseRole() {
  const me = useMe()
  const change = useProfileChange()
  return (
    <Step title={t('onboarding.page.welcome', { name: me.display_name })}>
      <Text>{t('onboarding.page.question')}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {roleChoices.map(({ role, title, text, actionLabel }) => (
          <Card key={role}>
            <Stack>
              <Title order={2}>{title}</Title>
              <Text>{text}</Text>
              <Button loading={change.isPending} onClick={() => change.mutate({ role })}>
                {actionLabel}
              </Button>
            </Stack>
          </Card>
        ))}
      </SimpleGrid>
      <Problem error={change.error} />
    </Step>
  )
}
