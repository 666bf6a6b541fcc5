import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { t } from '../texts/texts.ts'
import { Section } from '../ui/section.tsx'
import { AdminPage } from './admin-page.tsx'
import { JobList } from './job-list.tsx'
import { Queues } from './queues.tsx'

/** Shows the queues of background work, and the jobs that need attention. */
export const JobsPage = () => (
  <AdminPage title={t('admin.jobs.title')} description={t('admin.jobs.description')}>
    <Jobs />
    <Section title={t('admin.jobs.queues')}>
      <Queues />
    </Section>
  </AdminPage>
)

const states = [
  { value: 'failed', label: t('admin.jobs.failed') },
  { value: 'retrying', label: t('admin.jobs.retrying') },
  { value: 'running', label: t('admin.jobs.running') },
  { value: 'waiting', label: t('admin.jobs.waiting') },
] as const
type State = (typeof states)[number]['value']

function Jobs() {
  const [state, setState] = useState<State>('failed')
  return (
    <Section title={t('admin.jobs.jobs')}>
      <SegmentedControl
        aria-label={t('admin.jobs.state')}
        value={state}
        onChange={setState}
        data={[...states]}
        maw={480}
      />
      <JobList key={state} state={state} />
    </Section>
  )
}
