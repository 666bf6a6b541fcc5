import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'

export type Dataset = Schemas['Dataset']
export type Episode = Schemas['Episode']

const PAGE = 50

/** Every dataset, the one that grew last first. */
export function useDatasets() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.datasets, 'list'],
    queryFn: () => answerOf(rest.GET('/api/client/datasets')),
  })
}

/** The episodes of one, newest first, page by page. */
export function useEpisodes(id: string) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey: [...keys.datasets, id, 'episodes'],
    queryFn: async ({ pageParam: before }) => {
      const query = { limit: PAGE, ...(before !== undefined && { before }) }
      const { episodes } = await answerOf(
        rest.GET('/api/client/datasets/{id}/episodes', { params: { path: { id }, query } }),
      )
      return episodes
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < PAGE ? undefined : page.at(-1)?.id),
    select: ({ pages }) => pages.flat(),
  })
}
