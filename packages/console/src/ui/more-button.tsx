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

/** Loads the next page of a list, if there is one, and shows the error if that fails. */
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
