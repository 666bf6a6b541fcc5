import { PushSection } from '../push/push-section.tsx'
import { QueryView } from '../ui/states.tsx'
import { MailLanguageForm } from './mail-language-form.tsx'
import { NotificationMatrix } from './notification-matrix.tsx'
import { useNotificationSettings } from './notification-settings.ts'
import { PreferencesForm } from './preferences-form.tsx'
import { QuietHoursForm } from './quiet-hours-form.tsx'

/** Shows how notifications reach the user: the main switches, the browsers, the matrix, the quiet hours and the language. */
export const NotificationSection = () => (
  <>
    <PreferencesForm />
    <PushSection />
    <QueryView query={useNotificationSettings()}>
      {(settings) => (
        <>
          <NotificationMatrix saved={settings} />
          <QuietHoursForm saved={settings} />
          <MailLanguageForm saved={settings} />
        </>
      )}
    </QueryView>
  </>
)
