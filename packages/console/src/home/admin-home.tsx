import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { certificationsQuery, type Overview, overviewQuery, shortTime } from '../admin/admin-page.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { sentence } from '../base/message-of.ts'
import { Loading, Problem } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { gapText, reasonText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { Attention, type AttentionItem } from './owner-home.tsx'

type JobQueue = Schemas['JobQueue']

/** A gateway renews its row every few seconds. */
const SILENT_MS = 15_000
const JOBS_POLL_MS = 5_000
/** A queue whose oldest job has been due for longer has no free worker. */
const LATE_JOB_S = 300

/** Shows admins what is wrong: gateways, lost robots, stops, failed jobs, certification requests. */
export default function AdminHome() {
  const { rest } = usePlatform()
  const overview = useQuery(overviewQuery(rest))
  const certifications = useQuery(certificationsQuery(rest, 'PENDING'))
  const queues = useQuery({
    queryKey: [...keys.jobs, 'queues'],
    queryFn: async ({ signal }) => (await answerOf(rest.GET('/api/admin/jobs/queues', { signal }))).queues,
    refetchInterval: JOBS_POLL_MS,
  })
  const failed = [overview, certifications, queues].find(({ error }) => error !== null)
  if (!overview.data || !certifications.data || !queues.data) {
    return failed ? <Problem error={failed.error} onRetry={() => void failed.refetch()} /> : <Loading />
  }
  return (
    <>
      {failed && <Problem error={failed.error} onRetry={() => void failed.refetch()} />}
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

function ofGateways({ at, gateways }: Overview): AttentionItem[] {
  const subject = (text: string) => (
    <LinkAnchor to="/admin" fw={600}>
      {text}
    </LinkAnchor>
  )
  if (gateways.length === 0) {
    return [
      {
        id: 'gateways',
        label: t('home.admin.down'),
        shape: 'blind',
        subject: subject(t('home.admin.noGateway')),
        detail: t('home.admin.noGatewayText'),
      },
    ]
  }
  return gateways
    .filter(({ seen_at }) => Date.parse(at) - Date.parse(seen_at) > SILENT_MS)
    .map(
      ({ id, url }): AttentionItem => ({
        id,
        label: t('home.admin.down'),
        shape: 'blind',
        subject: subject(url),
        detail: t('home.admin.gatewaySilent'),
      }),
    )
}

const ofSessions = ({ sessions }: Overview): AttentionItem[] =>
  sessions.open
    .filter(({ stop, robot_connected }) => stop !== null || !robot_connected)
    .map(
      ({ id, robot_name, robot_connected, stop, client_name }): AttentionItem => ({
        id,
        label: robot_connected ? t('home.admin.stopped') : t('home.admin.lost'),
        shape: 'blind',
        subject: (
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} fw={600}>
            {robot_name}
          </LinkAnchor>
        ),
        detail: stop
          ? t('home.admin.stoppedFor', { owner: client_name, reason: reasonText(stop.reason) })
          : client_name,
      }),
    )

const ofRecordings = ({ not_recorded }: Overview): AttentionItem[] =>
  not_recorded.map(
    ({ reason, sessions }): AttentionItem => ({
      id: `recording:${reason}`,
      label: t('home.admin.notRecorded'),
      shape: 'delayed',
      subject: (
        <LinkAnchor to="/admin" fw={600}>
          {t('home.admin.notRecordedSessions', { count: sessions })}
        </LinkAnchor>
      ),
      detail: sentence(gapText(reason)),
    }),
  )

/** Shows queues with failed jobs, and queues without a free worker. */
const ofJobs = (queues: readonly JobQueue[]): AttentionItem[] => [
  ...queues
    .filter(({ failed }) => failed > 0)
    .map(
      (queue): AttentionItem => ({
        id: queue.name,
        label: t('home.admin.failed'),
        shape: 'blind',
        subject: queueLink(queue),
        detail: t('home.admin.failedJobs', { jobs: queue.failed }),
      }),
    ),
  ...queues
    .filter(({ due, oldest_due_seconds: lateS }) => due > 0 && lateS > LATE_JOB_S)
    .map(
      (queue): AttentionItem => ({
        id: `late:${queue.name}`,
        label: t('home.admin.late'),
        shape: 'delayed',
        subject: queueLink(queue),
        detail: t('home.admin.lateJobs', {
          jobs: queue.due,
          time: shortTime(queue.oldest_due_seconds * 1_000),
        }),
      }),
    ),
]

const queueLink = ({ description }: JobQueue) => (
  <LinkAnchor to="/admin/jobs" fw={600}>
    {description}
  </LinkAnchor>
)

const ofCertifications = (waiting: number): AttentionItem[] =>
  waiting === 0
    ? []
    : [
        {
          id: 'certifications',
          label: t('home.admin.waiting'),
          shape: 'delayed',
          subject: (
            <LinkAnchor to="/admin/certifications" fw={600}>
              {t('home.admin.requests', { requests: waiting })}
            </LinkAnchor>
          ),
        },
      ]
