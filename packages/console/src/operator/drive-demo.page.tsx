import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { useEffect } from 'react'
import { Page } from '../base/page.tsx'
import { Empty, Loading, Problem } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { useStartNow } from './idempotent-mutation.ts'

/** The tag of the simulated robots of the demo. A link starts no other robot without a look at its page. */
const TAG = 'demo'
const LIMIT = 100

/** Leads from the front page into a cockpit: of the operator's open session, otherwise of a new one with a free demo robot. */
export function DriveDemoPage() {
  const ride = useDemoRide()
  const navigate = useNavigate()
  const { mutate, error } = useStartNow({ replace: true })
  const { sessionId, robotId } = ride.data ?? {}
  useEffect(() => {
    if (sessionId) void navigate({ to: '/drive/$sessionId', params: { sessionId }, replace: true })
    else if (robotId) mutate(robotId)
  }, [sessionId, robotId, navigate, mutate])
  const retry = async () => {
    const { data } = await ride.refetch()
    if (data?.robotId) mutate(data.robotId)
  }
  const problem = ride.error ?? error
  const busy = ride.data && !sessionId && !robotId
  return (
    <Page title={t('operator.demo.title')} link={['/available', t('operator.preFlight.back')]}>
      <Problem error={problem} onRetry={() => void retry()} />
      {!problem && !busy && <Loading />}
      {!problem && busy && (
        <Empty
          title={t('operator.demo.busyTitle')}
          action={
            <Button loading={ride.isFetching} onClick={() => void retry()}>
              {t('common.tryAgain')}
            </Button>
          }
        >
          {t('operator.demo.busyText')}
        </Empty>
      )}
    </Page>
  )
}

/** Finds the open session, otherwise a free demo robot. Nothing is kept: a later visit must not open an ended session. */
function useDemoRide() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.robots, 'available', 'demo'],
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const { open_session_id } = await answerOf(rest.GET('/api/operator/availability', { signal }))
      if (open_session_id !== null) return { sessionId: open_session_id }
      const params = { query: { search: TAG, limit: LIMIT } }
      const { robots } = await answerOf(rest.GET('/api/operator/available-robots', { params, signal }))
      return { robotId: robots.find(({ tags }) => tags.includes(TAG))?.id }
    },
  })
}
