import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'

export type StoredExport = Schemas['StoredExport']

const POLL_INTERVAL_MS = 2_000

export const isUnfinished = ({ status }: StoredExport) => status === 'PENDING' || status === 'RUNNING'

/** Queries the user's exports, newest first. Polls while one is unfinished. */
export function useExports() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: keys.exports,
    queryFn: async ({ signal }) => (await answerOf(rest.GET('/api/session-exports', { signal }))).exports,
    refetchInterval: ({ state }) => (state.data?.some(isUnfinished) ? POLL_INTERVAL_MS : false),
  })
}

/** Returns the mutation that cancels or removes an export. An export that does not exist any more counts as removed. */
export function useRemoveExport(id: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const request = answerOf(rest.DELETE('/api/session-exports/{id}', { params: { path: { id } } }))
      await request.catch((cause: unknown) => {
        if (!(cause instanceof ApiError && cause.status === 404)) throw cause
      })
      await queries.invalidateQueries({ queryKey: keys.exports })
    },
  })
}
