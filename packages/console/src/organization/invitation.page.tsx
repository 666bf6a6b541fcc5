import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Problem } from '../base/states.tsx'
import { organizationRoleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { Received, useReceived } from './invitations.tsx'
import { useAccept } from './organization.ts'

/**
 * Accepts the invitation of a mail. Its token is behind the `#` of the address, so that no server and no log on the way gets it. A
 * sign-in loses it: then the page shows the invitations to the verified address of the user.
 */
export function InvitationPage() {
  const [token] = useState(() => location.hash.slice(1))
  return (
    <Page title={t('organization.invitation.title')}>
      <Section title={t('organization.received.title')}>
        {token === '' ? (
          <>
            <Text>{t('organization.invitation.noToken')}</Text>
            <Received />
          </>
        ) : (
          <Accept token={token} />
        )}
        <Group>
          <LinkButton to="/" variant="default">
            {t('common.goHome')}
          </LinkButton>
        </Group>
      </Section>
    </Page>
  )
}

function Accept({ token }: { token: string }) {
  const accept = useAccept()
  // The token begins with the id of the invitation.
  const known = useReceived().data?.invitations.find(({ id }) => token.startsWith(id))
  return (
    <>
      <Text style={{ overflowWrap: 'anywhere' }}>
        {known
          ? t('organization.received.invitation', {
              team: known.organization_name,
              role: organizationRoleTexts[known.role],
            })
          : t('organization.invitation.text')}
      </Text>
      <Problem error={accept.error} />
      <Group>
        <Button loading={accept.isPending || accept.isSuccess} onClick={() => accept.mutate(token)}>
          {t('organization.received.accept')}
        </Button>
      </Group>
    </>
  )
}
