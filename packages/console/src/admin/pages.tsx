import { Button, Group } from '@mantine/core'
import {
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Empty, QueryView } from '../ui/states.tsx'
import { Freshness } from './freshness.tsx'

/** Entries of one request. */
export const PAGE_SIZE = 50
const EVERY_MS = 5_000

/**
 * A list that is read newest first, a page at a time. While only its first page is shown it is asked for again every
 * few seconds; who has gone on to older ones is not disturbed.
 * @param load reads what is older than the entry with the id `before`, or the newest
 */
export function usePages<T extends { readonly id: string | number }>(
  queryKey: QueryKey,
  load: (before: string | undefined, signal: AbortSignal) => Promise<readonly T[]>,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.length < PAGE_SIZE ? undefined : String(last.at(-1)?.id)),
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : EVERY_MS),
  })
}

interface Props<T> {
  readonly query: UseInfiniteQueryResult<InfiniteData<readonly T[]>>
  readonly empty: string
  readonly children: (entries: readonly T[]) => ReactNode
}

/** Such a list: how old it is, its entries so far, and a button for older ones. */
export function PagesView<T>({ query, empty, children }: Props<T>) {
  return (
    <>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={({ pages }) => pages[0]?.length === 0}
        empty={<Empty title={empty} />}
      >
        {({ pages }) => (
          <>
            {children(pages.flat())}
            {query.hasNextPage && (
              <Group justify="center">
                <Button
                  variant="default"
                  loading={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show older
                </Button>
              </Group>
            )}
          </>
        )}
      </QueryView>
    </>
  )
}
