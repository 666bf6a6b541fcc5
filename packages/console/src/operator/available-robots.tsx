import { Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { DataList } from '../list/data-list.tsx'
import { optionsOf } from '../list/list-types.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Empty, Problem } from '../ui/states.tsx'
import { availableColumns, RobotActionsContext } from './available-columns.tsx'
import { type AvailableSearch, readAvailableSearch } from './list-search.ts'
import {
  type AvailableRobot,
  useAvailability,
  useAvailableCounts,
  useAvailableRobots,
  useCertifications,
} from './queries.ts'
import { useStartNow } from './use-start.ts'

const ScheduleSession = lazy(() => import('./schedule-session.tsx'))

/** Lists the available robots live. An open dialog stays when its robot leaves the list. */
export function AvailableRobots() {
  const search = useSearch({ from: '/shell/available' })
  const navigate = useNavigate({ from: '/available' })
  const list = useAvailableRobots(search)
  const { data: counts } = useAvailableCounts(search)
  // Subscribes even while the list is empty, so that the first robot appears.
  useRobotStatuses()
  const start = useStartNow()
  const [selected, setSelected] = useState<AvailableRobot>()
  const [scheduling, setScheduling] = useState<AvailableRobot>()
  const busy = useAvailability().data?.open_session_id != null
  const startingId = start.isPending ? selected?.id : undefined
  const { mutate } = start
  const actions = useMemo(
    () => ({
      busy,
      startingId,
      onSchedule: setScheduling,
      onStart: (robot: AvailableRobot) => {
        setSelected(robot)
        mutate(robot.id)
      },
    }),
    [busy, startingId, mutate],
  )
  const go = (next: AvailableSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  return (
    <Stack>
      {start.error && selected && (
        <Text fw={600}>{t('operator.available.notStarted', { robot: selected.name })}</Text>
      )}
      <Problem error={start.error} />
      {busy && (
        <Text size="sm" c="dimmed">
          {t('operator.available.busy')}
        </Text>
      )}
      <RobotActionsContext value={actions}>
        <DataList
          label={t('operator.available.label')}
          name="available-robots"
          columns={availableColumns}
          list={list}
          search={search}
          readSearch={readAvailableSearch}
          onSearch={go}
          searchHint={t('operator.available.searchHint')}
          filters={[
            {
              name: 'type',
              label: t('operator.available.type'),
              options: optionsOf(
                counts?.by_type.map(({ robot_type, count }) => ({ value: robot_type, count })),
                search.type,
              ),
            },
          ]}
          empty={<NoRobotsNotice />}
          rowProps={() => ({ 'data-testid': 'robot-row' })}
        />
      </RobotActionsContext>
      <Suspense>
        {scheduling && <ScheduleSession robot={scheduling} onClose={() => setScheduling(undefined)} />}
      </Suspense>
    </Stack>
  )
}

/** Explains an empty list and how to get access to robots. */
function NoRobotsNotice() {
  const { data } = useCertifications()
  const certifications = data?.certifications
  if (certifications?.some(({ status }) => status === 'APPROVED')) {
    return <Empty title={t('operator.available.emptyTitle')}>{t('operator.available.emptyText')}</Empty>
  }
  const pending = certifications?.some(({ status }) => status === 'PENDING')
  return (
    <Empty
      title={pending ? t('operator.available.pendingTitle') : t('operator.available.notCertifiedTitle')}
      action={
        <LinkButton to="/certifications" variant={pending ? 'default' : 'filled'}>
          {pending
            ? t('operator.available.viewCertifications')
            : t('operator.available.requestCertification')}
        </LinkButton>
      }
    >
      {pending ? t('operator.available.pendingText') : t('operator.available.notCertifiedText')}
    </Empty>
  )
}
