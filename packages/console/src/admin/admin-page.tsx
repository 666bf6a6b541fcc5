import { Button, Group } from '@mantine/core'
import {
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { Freshness } from './freshness.tsx'

/** Renders a page for admins. Other users see a notice, and the page sends no request. */
export function AdminPage({ children, ...page }: Omit<ComponentProps<typeof Page>, 'actions'>) {
  const { roles } = useMe()
  if (!roles.includes('admin')) return <AdminsOnly title={page.title} />
  return <Page {...page}>{children}</Page>
}

const AdminsOnly = ({ title }: { title: string }): ReactNode => (
  <Page title={title}>
    <Empty title={t('admin.access.title')} action={<LinkButton to="/">{t('admin.access.home')}</LinkButton>}>
      {t('admin.access.text')}
    </Empty>
  </Page>
)

/** Entries per request. */
export const PAGE_SIZE = 50
const POLL_INTERVAL_MS = 5_000

/**
 * Queries a list page by page, newest first. Polls while only the first page is loaded, so that loaded older pages
 * do not shift.
 * @param load reads the entries older than the id `before`, or the newest entries
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
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : POLL_INTERVAL_MS),
  })
}

interface Props<T> {
  readonly query: UseInfiniteQueryResult<InfiniteData<readonly T[]>>
  readonly empty: string
  readonly children: (entries: readonly T[]) => ReactNode
}

/** Shows a paged list: its age, the loaded entries and a button for older ones. */
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
                  {t('admin.list.older')}
                </Button>
              </Group>
            )}
          </>
        )}
      </QueryView>
    </>
  )
}

/** Renders the name of a user as a link to the page that admins see of the user. */
export const UserLink = ({ id, name }: { id: string; name: string }) => (
  <LinkAnchor to="/admin/users/$userId" params={{ userId: id }} inherit>
    {name}
  </LinkAnchor>
)
