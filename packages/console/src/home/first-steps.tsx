import { Badge, Group, List, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { CopyableSecret } from '../ui/secret.tsx'
import { Section } from '../ui/section.tsx'
import type { ClientOverview } from './client-overview.ts'

/** Guides a new owner: register, connect, drive, invite. Gone once an invited operator has driven. */
export function FirstSteps({ steps }: { steps: ClientOverview['first_steps'] }) {
  const { registered, connected, driven, driven_by_others } = steps
  if (driven_by_others) return null
  const done = [registered, connected, driven, driven_by_others]
  const next = done.indexOf(false)
  return (
    <Section title={t('home.firstSteps.title')}>
      <List type="ordered" spacing="md">
        <Step title={t('home.firstSteps.register')} done={registered} isNext={next === 0}>
          <LinkButton to="/robots/new" size="xs">
            {t('home.firstSteps.registerButton')}
          </LinkButton>
        </Step>
        <Step title={t('home.firstSteps.connect')} done={connected} isNext={next === 1}>
          <Text size="sm">{t('home.firstSteps.connectText')}</Text>
          <LinkButton to="/robots" size="xs">
            {t('home.firstSteps.connectButton')}
          </LinkButton>
        </Step>
        <Step title={t('home.firstSteps.drive')} done={driven} isNext={next === 2}>
          <DriveStep />
        </Step>
        <Step title={t('home.firstSteps.invite')} done={driven_by_others} isNext={next === 3}>
          <Text size="sm">{t('home.firstSteps.inviteText')}</Text>
          <CopyableSecret
            label={t('home.firstSteps.address')}
            value={`${window.location.origin}/dashboard`}
          />
        </Step>
      </List>
    </Section>
  )
}

function Step(props: { title: string; done: boolean; isNext: boolean; children: ReactNode }) {
  const { title, done, isNext, children } = props
  return (
    <List.Item aria-current={isNext ? 'step' : undefined}>
      <Group gap="xs">
        <Text fw={isNext ? 600 : 400}>{title}</Text>
        {done && <Badge color="teal.9">{t('home.firstSteps.done')}</Badge>}
      </Group>
      {isNext && (
        <Stack gap="xs" align="flex-start" mt={4}>
          {children}
        </Stack>
      )}
    </List.Item>
  )
}

/** Links to the robots, or to the settings, because an owner needs the operator role to drive. */
const DriveStep = () =>
  useMe().roles.includes('operator') ? (
    <LinkButton to="/available" size="xs">
      {t('home.firstSteps.chooseRobot')}
    </LinkButton>
  ) : (
    <>
      <Text size="sm">{t('home.firstSteps.addRoleText')}</Text>
      <LinkButton to="/settings" size="xs">
        {t('home.firstSteps.addRole')}
      </LinkButton>
    </>
  )
