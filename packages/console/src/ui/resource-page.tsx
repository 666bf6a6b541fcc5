import type { UseQueryResult } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { Page } from './page.tsx'
import { Empty, QueryView } from './states.tsx'

/**
 * A page about one thing, once it is found; its child makes the page. Until then, and when there is none, the page is
 * called after the kind of thing.
 */
export function ResourcePage<T>(props: {
  query: UseQueryResult<T>
  /** What is looked for, such as "Robot". */
  kind: string
  /** A link to all of its kind. */
  back: ReactNode
  children: (data: T) => ReactNode
}) {
  const { query, kind, back, children } = props
  if (query.data !== undefined) return <QueryView query={query}>{children}</QueryView>
  const { error } = query
  const isUnknown = error instanceof ApiError && (error.status === 404 || error.status === 400)
  return (
    <Page title={kind}>
      {isUnknown ? (
        <Empty title={`There is no such ${kind.toLowerCase()}`} action={back}>
          It does not exist, or you have no part in it.
        </Empty>
      ) : (
        <QueryView query={query}>{() => null}</QueryView>
      )}
    </Page>
  )
}
