import { QueryView } from '../ui/states.tsx'
import { NotificationMatrix } from './notification-matrix.tsx'
import { useNotificationSettings } from './notification-settings.ts'
import { PreferencesForm } from './preferences-form.tsx'
import { QuietHoursForm } from './quiet-hours-form.tsx'

/** Shows how notifications reach the user: the main switches, the matrix and the quiet hours. */
export const NotificationSection = () => (
  <>
    <PreferencesForm />
    <QueryView query={useNotificationSettings()}>
      {(settings) => (
        <>
          <NotificationMatrix saved={settings} />
          <QuietHoursForm saved={settings} />
        </>
      )}
    </QueryView>
  </>
)
