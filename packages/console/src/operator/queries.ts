import { keepPreviousData } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useListPages } from '../list/list-pages.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import type { AvailableSearch } from './list-search.ts'

export type AvailableRobot = Schemas['AvailableRobot']
export type Availability = Schemas['Availability']
export type Certification = Schemas['Certification']

/** No event announces that a schedule opens, so the page polls. */
const AVAILABILITY_POLL_MS = 30_000
/** Events announce status changes, but not heartbeats. */
const HEARTBEAT_POLL_MS = 10_000

/** Below the sessions root, because a session that starts or ends changes availability. */
export const availabilityKey = [...keys.sessions, 'availability'] as const

/** Queries whether the operator is available. */
export function useAvailability() {
  return useRead(availabilityKey, (rest) => rest.GET('/api/operator/availability'), {
    refetchInterval: AVAILABILITY_POLL_MS,
  })
}

/** The page size of the list of available robots. */
const PAGE_SIZE = 100

/** Most robots in a session that follow the available ones. */
const MAX_BUSY = 50

/** Lists robots in a session that the operator may drive afterwards, those with a known end first. */
export function useBusyRobots({ search, type }: AvailableSearch) {
  const query = { search, robot_type: type, status: 'IN_SESSION', sort: 'name', limit: MAX_BUSY } as const
  return useRead(
    [...keys.robots, 'available', 'busy', query],
    (rest, { signal }) => rest.GET('/api/operator/available-robots', { params: { query }, signal }),
    {
      placeholderData: keepPreviousData,
      refetchInterval: HEARTBEAT_POLL_MS,
      select: ({ robots }) => robots.toSorted((a, b) => (a.free_at ?? '9').localeCompare(b.free_at ?? '9')),
    },
  )
}

/** Lists the available robots that the operator may drive, page by page. */
export function useAvailableRobots({ search, sort, type }: AvailableSearch) {
  const { rest } = usePlatform()
  const filters = { search, sort, robot_type: type }
  return useListPages<AvailableRobot>({
    queryKey: [...keys.robots, 'available', 'list', filters],
    load: async (cursor, signal) => {
      const query = { limit: PAGE_SIZE, ...filters, cursor }
      const request = rest.GET('/api/operator/available-robots', { params: { query }, signal })
      const { robots } = await answerOf(request)
      const { response } = await request
      return { rows: robots, next: response.headers.get('X-Next-Cursor') }
    },
    refreshMs: HEARTBEAT_POLL_MS,
  })
}

/** Counts the available robots of each type. */
export function useAvailableCounts({ search }: AvailableSearch) {
  return useRead(
    [...keys.robots, 'available', 'counts', search],
    (rest, { signal }) =>
      rest.GET('/api/operator/available-robot-counts', { params: { query: { search } }, signal }),
    { placeholderData: keepPreviousData, refetchInterval: HEARTBEAT_POLL_MS },
  )
}

/** Queries the operator's certification requests, newest first. */
export function useCertifications() {
  return useRead(keys.certifications, (rest) => rest.GET('/api/operator/certifications'))
}

export const scheduleKey = ['schedule'] as const

/** Supported models rarely change. */
const MODELS_STALE_MS = 3_600_000

/** Queries the supported robot models. */
export function useModels() {
  return useRead(['robot-models'], (rest) => rest.GET('/api/robots'), { staleTime: MODELS_STALE_MS })
}

/** Returns model and manufacturer of a robot type, undefined for an unknown type. */
export function useModelName(robotType: string): string | undefined {
  const model = useModels().data?.models.find((candidate) => candidate.robot_type === robotType)
  return model && t('operator.model.name', { name: model.name, manufacturer: model.manufacturer })
}
