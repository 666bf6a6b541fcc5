import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { z } from 'zod'
import { pageOf, useListPages } from '../list/list-pages.ts'
import { parameter, textParameter } from '../list/list-search.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'

export type AvailableRobot = Schemas['AvailableRobot']
export type Availability = Schemas['Availability']
export type Certification = Schemas['Certification']

/** No event announces that a schedule opens, so the page polls. */
const AVAILABILITY_POLL_MS = 30_000
/** Events announce status changes, but not heartbeats. */
const HEARTBEAT_POLL_MS = 10_000

/** Below the sessions root, because a session that starts or ends changes availability. */
export const availabilityKey = [...keys.sessions, 'availability'] as const

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
    load: (cursor, signal) => {
      const query = { limit: PAGE_SIZE, ...filters, cursor }
      const request = rest.GET('/api/operator/available-robots', { params: { query }, signal })
      return pageOf(request, ({ robots }) => robots)
    },
    refreshMs: HEARTBEAT_POLL_MS,
  })
}

export function useAvailableCounts({ search }: AvailableSearch) {
  return useRead(
    [...keys.robots, 'available', 'counts', search],
    (rest, { signal }) =>
      rest.GET('/api/operator/available-robot-counts', { params: { query: { search } }, signal }),
    { placeholderData: keepPreviousData, refetchInterval: HEARTBEAT_POLL_MS },
  )
}

export function useCertifications() {
  return useRead(keys.certifications, (rest) => rest.GET('/api/operator/certifications'))
}

export const scheduleKey = ['schedule'] as const

/** Supported models rarely change. */
const MODELS_STALE_MS = 3_600_000

export function useModels() {
  return useRead(['robot-models'], (rest) => rest.GET('/api/robots'), { staleTime: MODELS_STALE_MS })
}

/** Returns model and manufacturer of a robot type, undefined for an unknown type. */
export function useModelName(robotType: string): string | undefined {
  const model = useModels().data?.models.find((candidate) => candidate.robot_type === robotType)
  return model && t('operator.model.name', { name: model.name, manufacturer: model.manufacturer })
}

const SAMPLES = 10
/** How long a measurement counts. */
const MEASURED_FOR_MS = 60_000

/** Returns the address of a small response of a gateway. @param gatewayUrl a WebSocket origin, such as `wss://host` */
export const probeUrl = (gatewayUrl: string): string => `${gatewayUrl.replace(/^ws/, 'http')}/livez`

/** Sums up round trips between this browser and a gateway. */
export function summaryOf(roundTripsMs: readonly number[]) {
  const sorted = roundTripsMs.toSorted((a, b) => a - b)
  return { medianMs: sorted[sorted.length >> 1] ?? 0, slowestMs: sorted.at(-1) ?? 0 }
}

/**
 * Measures how long small requests to a gateway take, one after another. The first one, which opens the connection, does not
 * count. The responses are opaque to this page, because the gateway has another origin.
 */
async function measure(gatewayUrl: string, signal: AbortSignal) {
  const url = probeUrl(gatewayUrl)
  const request = () => fetch(url, { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal })
  await request()
  const roundTripsMs: number[] = []
  for (let count = 0; count < SAMPLES; count++) {
    const startedAt = performance.now()
    await request()
    roundTripsMs.push(performance.now() - startedAt)
  }
  return summaryOf(roundTripsMs)
}

/** Queries the latency between this browser and a gateway. Nothing is measured without a gateway. */
export const useGatewayLatency = (gatewayUrl: string | null) =>
  useQuery({
    queryKey: ['gateway-latency', gatewayUrl],
    queryFn: ({ signal }) => measure(gatewayUrl ?? '', signal),
    enabled: gatewayUrl !== null,
    // Rows of one list share a measurement, also those that appear while the user scrolls.
    staleTime: MEASURED_FOR_MS,
    retry: 1,
    refetchOnWindowFocus: false,
  })

const schema = z.object({
  search: textParameter,
  sort: parameter(z.enum(['name', '-name'])),
  type: textParameter,
})

/** Search text, order and type of the available robots, as stored in the query string. */
export type AvailableSearch = z.output<typeof schema>

export const readAvailableSearch = (search: Record<string, unknown>): AvailableSearch => schema.parse(search)
