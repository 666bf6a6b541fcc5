import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import type { DatasetExport } from '../recording/recordings.ts'

const POLL_MS = 2_000
const PATH = '/api/client/datasets/exports'
const queryKey = [...keys.datasets, 'exports']

export interface NewExport {
  readonly name: string
  readonly fps: number
  readonly cameras?: string[]
  readonly gaps?: DatasetExport['gaps']
  readonly alignment?: DatasetExport['alignment']
  readonly unfinished?: boolean
  readonly episode_ids?: string[]
  readonly dataset_ids?: string[]
}

export const isRunning = ({ status }: DatasetExport): boolean => status === 'PENDING' || status === 'RUNNING'

/** Queries the exports of datasets, newest first. Polls while one is unfinished. */
export function useDatasetExports() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await answerOf(rest.GET(PATH, { signal }))).exports,
    refetchInterval: ({ state }) => (state.data?.some(isRunning) ? POLL_MS : false),
  })
}

export function useStartExport() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (wanted: NewExport) =>
      answerOf(rest.POST(PATH, { body: { format: 'lerobot_v3', ...wanted } })),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  })
}

export function useRemoveExport() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => answerOf(rest.DELETE(`${PATH}/{id}`, { params: { path: { id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
}
