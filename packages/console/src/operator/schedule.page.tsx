import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { Page } from '../base/page.tsx'
import { QueryView } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { AvailabilityLine } from './availability-line.tsx'
import { scheduleKey } from './queries.ts'
import { WeekEditor } from './week-editor.tsx'

/** Shows and edits the operator's weekly working hours. */
export function SchedulePage() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: scheduleKey,
    queryFn: () => answerOf(rest.GET('/api/operator/schedule')),
  })
  return (
    <Page title={t('operator.schedule.title')} description={t('operator.schedule.description')}>
      <AvailabilityLine />
      <QueryView query={query}>{(schedule) => <WeekEditor saved={schedule} />}</QueryView>
    </Page>
  )
}
