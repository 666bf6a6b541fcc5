import { useMe } from '../auth/me.ts'
import { ClientProfileForm } from '../profiles/client-profile-form.tsx'
import { OperatorProfileForm } from '../profiles/operator-profile-form.tsx'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Webhooks } from '../webhooks/webhooks.tsx'
import { AccountForm } from './account-form.tsx'
import { ApiKeys } from './api-keys.tsx'
import { AvatarForm } from './avatar-form.tsx'
import { NotificationSection } from './notification-section.tsx'
import { RolesSection } from './roles.tsx'

/** Shows the settings of the account. */
export function SettingsPage() {
  const { roles } = useMe()
  return (
    <Page title="Settings">
      <Section title="Account">
        <AvatarForm />
        <AccountForm />
      </Section>
      {roles.includes('operator') && (
        <Section title="Operator profile">
          <OperatorProfileForm />
        </Section>
      )}
      {roles.includes('client') && (
        <Section title="Owner profile">
          <ClientProfileForm />
        </Section>
      )}
      <Section title="Roles">
        <RolesSection />
      </Section>
      <Section title="Notifications">
        <NotificationSection />
      </Section>
      <Section title="API keys">
        <ApiKeys />
      </Section>
      <Section title="Webhooks">
        <Webhooks />
      </Section>
    </Page>
  )
}
