import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { t } from '../../texts/texts.ts'
import { dateTime } from '../../ui/format.ts'
import { usePlatform } from '../platform.ts'
import type { PaletteEntry } from './palette-entry.ts'

type SearchResult = Schemas['SearchResult']

/** A single letter finds too much. */
const MIN_LETTERS = 2
/** Results of the same text are shown again without a request. */
const STALE_MS = 10_000
const MAX_WORDS = 5

const groups: Record<SearchResult['kind'], string> = {
  own_robot: t('app.found.ownRobots'),
  available_robot: t('app.found.availableRobots'),
  session: t('app.found.sessions'),
  user: t('app.found.users'),
}

/** Searches robots, sessions and users on the platform. A newer text cancels the search of an older one. */
export function useFound(text: string): { found: readonly PaletteEntry[]; isSearching: boolean } {
  const { rest } = usePlatform()
  const open = useOpen()
  const enabled = text.length >= MIN_LETTERS && text.split(/\s+/).length <= MAX_WORDS
  const query = useQuery({
    queryKey: ['search', text],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/search', { params: { query: { q: text } }, signal })),
    enabled,
    staleTime: STALE_MS,
    gcTime: STALE_MS,
    placeholderData: keepPreviousData,
  })
  const results = enabled ? (query.data?.results ?? []) : []
  const found = results.map((result) => ({
    id: `${result.kind}:${result.id}`,
    group: groups[result.kind],
    label: result.title,
    detail: result.at === null ? result.detail : `${result.detail}, ${dateTime(result.at)}`,
    run: () => open(result),
  }))
  return { found, isSearching: enabled && query.isFetching }
}

/** Returns the function that opens the page of a result. */
function useOpen(): (result: SearchResult) => void {
  const navigate = useNavigate()
  return ({ kind, id }) => {
    if (kind === 'own_robot') void navigate({ to: '/robots/$robotId', params: { robotId: id } })
    else if (kind === 'available_robot') void navigate({ to: '/available/$robotId', params: { robotId: id } })
    else if (kind === 'session') void navigate({ to: '/sessions/$sessionId', params: { sessionId: id } })
    else void navigate({ to: '/admin/users/$userId', params: { userId: id } })
  }
}
