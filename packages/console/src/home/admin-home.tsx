import type { Schemas } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import {
  LATE_JOB_S,
  type Overview,
  SILENT_MS,
  shortTime,
  useCertificationRequests,
  useOverview,
  useQueues,
} from '../admin/admin-page.tsx'
import { LinkAnchor, SessionLink } from '../base/links.tsx'
import { sentence } from '../base/message-of.ts'
import { Loading, Problem } from '../base/states.tsx'
import { gapText, reasonText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { Attention, type AttentionItem } from './owner-home.tsx'

/** Shows admins what is wrong: gateways, lost robots, stops, failed jobs, certification requests. */
export default function AdminHome() {
  const overview = useOverview()
  const certifications = useCertificationRequests('PENDING')
  const queues = useQueues()
  const failed = [overview, certifications, queues].find(({ error }) => error !== null)
  const problem = failed && <Problem error={failed.error} onRetry={() => void failed.refetch()} />
  if (!overview.data || !certifications.data || !queues.data) return problem ?? <Loading />
  return (
    <>
      {problem}
      <Attention
        title={t('home.admin.title')}
        none={t('home.admin.none')}
        items={[
          ...ofGateways(overview.data),
          ...ofSessions(overview.data),
          ...ofRecordings(overview.data),
          ...ofJobs(queues.data),
          ...ofCertifications(certifications.data.certifications.length),
        ]}
      />
    </>
  )
}

/** Renders what an item is about as a link to the page that has more. */
const linked = (to: '/admin' | '/admin/jobs' | '/admin/certifications', text: string): ReactNode => (
  <LinkAnchor to={to} fw={600}>
    {text}
  </LinkAnchor>
)

function ofGateways({ at, gateways }: Overview): AttentionItem[] {
  const down = (id: string, text: string, detail: string): AttentionItem => {
    return { id, label: t('home.admin.down'), shape: 'blind', subject: linked('/admin', text), detail }
  }
  if (gateways.length === 0)
    return [down('gateways', t('home.admin.noGateway'), t('home.admin.noGatewayText'))]
  return gateways
    .filter(({ seen_at }) => Date.parse(at) - Date.parse(seen_at) > SILENT_MS)
    .map(({ id, url }) => down(id, url, t('home.admin.gatewaySilent')))
}

const ofSessions = ({ sessions }: Overview): AttentionItem[] =>
  sessions.open
    .filter(({ stop, robot_connected }) => stop !== null || !robot_connected)
    .map(({ id, robot_name, robot_connected, stop, client_name: owner }) => ({
      id,
      label: robot_connected ? t('home.admin.stopped') : t('home.admin.lost'),
      shape: 'blind',
      subject: <SessionLink id={id} fw={600} name={robot_name} />,
      detail: stop ? t('home.admin.stoppedFor', { owner, reason: reasonText(stop.reason) }) : owner,
    }))

const ofRecordings = ({ not_recorded }: Overview): AttentionItem[] =>
  not_recorded.map(({ reason, sessions }) => ({
    id: `recording:${reason}`,
    label: t('home.admin.notRecorded'),
    shape: 'delayed',
    subject: linked('/admin', t('home.admin.notRecordedSessions', { count: sessions })),
    detail: sentence(gapText(reason)),
  }))

/** Returns queues with failed jobs, and queues without a free worker. */
const ofJobs = (queues: readonly Schemas['JobQueue'][]): AttentionItem[] => [
  ...queues
    .filter(({ failed }) => failed > 0)
    .map(
      ({ name, description, failed }): AttentionItem => ({
        id: name,
        label: t('home.admin.failed'),
        shape: 'blind',
        subject: linked('/admin/jobs', description),
        detail: t('home.admin.failedJobs', { jobs: failed }),
      }),
    ),
  ...queues
    .filter(({ due, oldest_due_seconds: lateS }) => due > 0 && lateS > LATE_JOB_S)
    .map(
      ({ name, description, due, oldest_due_seconds: lateS }): AttentionItem => ({
        id: `late:${name}`,
        label: t('home.admin.late'),
        shape: 'delayed',
        subject: linked('/admin/jobs', description),
        detail: t('home.admin.lateJobs', { jobs: due, time: shortTime(lateS * 1_000) }),
      }),
    ),
]

function ofCertifications(requests: number): AttentionItem[] {
  if (requests === 0) return []
  const subject = linked('/admin/certifications', t('home.admin.requests', { requests }))
  return [{ id: 'certifications', label: t('home.admin.waiting'), shape: 'delayed', subject }]
}
