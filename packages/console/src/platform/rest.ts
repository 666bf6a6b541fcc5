import {
  type QueryKey,
  type UseMutationOptions,
  type UseQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { usePlatform } from './platform.ts'

/** What a request of the client returns. */
export type Answer = Awaited<Parameters<typeof answerOf>[0]>
type Body<A extends Answer> = [Exclude<A['data'], undefined>] extends [never]
  ? undefined
  : Exclude<A['data'], undefined>

/** Returns the parameters of a route about one thing: `rest.GET('/api/sessions/{id}', byId(id))`. */
export const byId = (id: string) => ({ params: { path: { id } } })

/** Queries a route: `useRead(keys.profile, (rest, { signal }) => rest.GET('/api/auth/profile', { signal }))`. */
export function useRead<A extends Answer, Data = Body<A>>(
  queryKey: QueryKey,
  read: (rest: RestClient, context: { readonly signal: AbortSignal }) => Promise<A>,
  options?: Omit<UseQueryOptions<Body<A>, Error, Data>, 'queryKey' | 'queryFn'>,
) {
  const { rest } = usePlatform()
  return useQuery({ queryKey, queryFn: (context) => answerOf(read(rest, context)), ...options })
}

interface PageQuery {
  readonly limit: number
  readonly before: string | undefined
}

interface PagesOptions<T> extends Pick<PageQuery, 'limit'> {
  /** Returns how long the loaded pages stay, in milliseconds; without it, until something invalidates them. */
  readonly pollMs?: (pages: readonly (readonly T[])[]) => number | false
}

/**
 * Queries a list page by page, newest first, as all loaded entries.
 * @param load reads the entries older than the one with the id `before`, or the newest ones
 */
export function usePages<T extends { readonly id: string | number }>(
  queryKey: QueryKey,
  { limit, pollMs = () => false }: PagesOptions<T>,
  load: (rest: RestClient, page: PageQuery, signal: AbortSignal) => Promise<readonly T[]>,
) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: before, signal }) => load(rest, { limit, before }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < limit ? undefined : String(page.at(-1)?.id)),
    select: ({ pages }) => pages.flat(),
    refetchInterval: ({ state }) => pollMs(state.data?.pages ?? []),
  })
}

interface WriteOptions<T, V> extends Pick<UseMutationOptions<T, Error, V>, 'gcTime'> {
  /** The query whose data the answer is. */
  readonly stores?: QueryKey
  /** Roots of the queries that are read again before the mutation ends. */
  readonly refresh?: readonly QueryKey[]
  /** Whether they are read again after a failure too. */
  readonly refreshesOnError?: boolean
  readonly onSuccess?: (answer: T, values: V) => unknown
}

/** Returns a mutation that changes something on the platform. */
export function useWrite<A extends Answer, V = void>(
  write: (rest: RestClient, values: V) => Promise<A>,
  { stores, refresh = [], refreshesOnError, onSuccess, ...options }: WriteOptions<Body<A>, V> = {},
) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const refetch = () => Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey })))
  return useMutation({
    ...options,
    mutationFn: (values: V) => answerOf(write(rest, values)),
    onSuccess: async (answer: Body<A>, values: V) => {
      if (stores) queries.setQueryData(stores, answer)
      await onSuccess?.(answer, values)
      await refetch()
    },
    ...(refreshesOnError && { onError: refetch }),
  })
}

/** Returns a function that changes something on the platform, for a `ConfirmButton`, and reads queries again. */
export function useAction<A extends Answer, V extends readonly unknown[]>(
  act: (rest: RestClient, ...values: V) => Promise<A>,
  ...refresh: readonly QueryKey[]
) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return async (...values: V): Promise<void> => {
    await answerOf(act(rest, ...values))
    await Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey })))
  }
}
