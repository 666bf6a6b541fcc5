import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { Section } from '../ui/section.tsx'
import { AdminPage } from './admin-page.tsx'
import { JobList } from './job-list.tsx'
import { Queues } from './queues.tsx'

/** Shows the queues of background work, and the jobs that need attention. */
export const JobsPage = () => (
  <AdminPage
    title="Background work"
    description="Mail, webhooks, payments and other jobs that run in the background."
  >
    <Jobs />
    <Section title="Queues">
      <Queues />
    </Section>
  </AdminPage>
)

const states = [
  { value: 'failed', label: 'Failed' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'running', label: 'Running' },
  { value: 'waiting', label: 'Waiting' },
] as const
type State = (typeof states)[number]['value']

function Jobs() {
  const [state, setState] = useState<State>('failed')
  return (
    <Section title="Jobs">
      <SegmentedControl aria-label="State" value={state} onChange={setState} data={[...states]} maw={480} />
      <JobList key={state} state={state} />
    </Section>
  )
}
