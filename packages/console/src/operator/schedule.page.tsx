import { Page } from '../base/page.tsx'
import { QueryView } from '../base/states.tsx'
import { useRead } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { AvailabilityLine } from './availability-line.tsx'
import { scheduleKey } from './queries.ts'
import { WeekEditor } from './week-editor.tsx'

/** Shows and edits the operator's weekly working hours. */
export function SchedulePage() {
  const query = useRead(scheduleKey, (rest) => rest.GET('/api/operator/schedule'))
  return (
    <Page title={t('operator.schedule.title')} description={t('operator.schedule.description')}>
      <AvailabilityLine />
      <QueryView query={query}>{(schedule) => <WeekEditor saved={schedule} />}</QueryView>
    </Page>
  )
}
