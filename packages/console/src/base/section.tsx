import { Card, Stack, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import { Page } from './page.tsx'
import { Empty, QueryView } from './states.tsx'

/** Renders a framed part of a page with a title. */
export const Section = (props: { title: string; id?: string; gap?: 'xs' | 'md'; children: ReactNode }) => (
  <Card withBorder component="section" id={props.id} aria-label={props.title} miw={0}>
    <Stack gap={props.gap ?? 'md'}>
      <Title order={2}>{props.title}</Title>
      {props.children}
    </Stack>
  </Card>
)

/**
 * Renders a page about one resource. `children` renders the loaded page. Before that, and when the resource is missing, the
 * title is its kind.
 */
export function ResourcePage<T>(props: {
  query: UseQueryResult<T>
  /** The kind of resource, such as "Robot". */
  kind: string
  /** A link to the list of resources. */
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
        <Empty title={t('ui.notFound.resource', { kind })} action={back}>
          {t('ui.notFound.text')}
        </Empty>
      ) : (
        <QueryView query={query}>{() => null}</QueryView>
      )}
    </Page>
  )
}
