import { Button, Center } from '@mantine/core'
import type { ReactNode } from 'react'
import { Problem } from './states.tsx'

interface Pages {
  readonly error: unknown
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  fetchNextPage(): Promise<unknown>
}

/** Under a list that comes page by page: asks for the next one, if there is one, and says when it did not come. */
export const MoreButton = ({ query, children }: { query: Pages; children: ReactNode }) => (
  <>
    {query.isFetchNextPageError && <Problem error={query.error} />}
    {query.hasNextPage && (
      <Center data-no-print>
        <Button
          variant="default"
          onClick={() => void query.fetchNextPage()}
          loading={query.isFetchingNextPage}
        >
          {children}
        </Button>
      </Center>
    )}
  </>
)
