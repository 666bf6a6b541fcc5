import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useListPages } from '../list/list-pages.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { filterOf, type SessionSearch } from './list-search.ts'

export type ListedSession = Schemas['Session']

/** The maximum page size of the API. */
const PAGE_SIZE = 100
/** The hub does not report the user's own actions in other windows, so the page polls. */
const REFRESH_MS = 5_000
const COUNTS_POLL_MS = 15_000

/** Lists the user's sessions that match a search, page by page. */
export function useSessionList(search: SessionSearch) {
  const { rest } = usePlatform()
  return useListPages<ListedSession>({
    queryKey: [...keys.sessions, 'list', search],
    load: async (cursor, signal) => {
      const query = { limit: PAGE_SIZE, sort: search.sort, ...filterOf(search), cursor }
      const request = rest.GET('/api/sessions', { params: { query }, signal })
      const { sessions } = await answerOf(request)
      const { response } = await request
      return { rows: sessions, next: response.headers.get('X-Next-Cursor') }
    },
    refreshMs: REFRESH_MS,
  })
}

/** Counts the user's sessions for each status, under the other filters of a search. */
export function useSessionCounts(search: SessionSearch) {
  const { rest } = usePlatform()
  const query = filterOf({ ...search, status: undefined })
  return useQuery({
    queryKey: [...keys.sessions, 'counts', query],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/session-counts', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: COUNTS_POLL_MS,
  })
}
