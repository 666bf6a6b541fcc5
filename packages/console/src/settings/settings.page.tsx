import { useMe } from '../platform/platform.ts'
import { ClientProfileForm } from '../profiles/client-profile-form.tsx'
import { OperatorProfileForm } from '../profiles/operator-profile-form.tsx'
import { t } from '../texts/texts.ts'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Webhooks } from '../webhooks/webhooks.tsx'
import { AccountForm } from './account-form.tsx'
import { ApiKeys } from './api-keys.tsx'
import { AvatarForm } from './avatar-form.tsx'
import { LanguageForm } from './language-form.tsx'
import { NotificationSection } from './notification-section.tsx'
import { RolesSection } from './roles.tsx'

/** Shows the settings of the account. */
export function SettingsPage() {
  const { roles } = useMe()
  return (
    <Page title={t('common.settings')}>
      <Section title={t('common.account')}>
        <AvatarForm />
        <AccountForm />
        <LanguageForm />
      </Section>
      {roles.includes('operator') && (
        <Section title={t('settings.page.operatorProfile')}>
          <OperatorProfileForm />
        </Section>
      )}
      {roles.includes('client') && (
        <Section title={t('settings.page.ownerProfile')}>
          <ClientProfileForm />
        </Section>
      )}
      <Section title={t('settings.page.roles')}>
        <RolesSection />
      </Section>
      <Section title={t('settings.page.notifications')}>
        <NotificationSection />
      </Section>
      <Section title={t('settings.apiKeys.title')}>
        <ApiKeys />
      </Section>
      <Section title={t('settings.webhooks')}>
        <Webhooks />
      </Section>
    </Page>
  )
}
