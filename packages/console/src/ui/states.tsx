import { Alert, Button, Center, Group, Loader, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { messageOf } from './message-of.ts'

export const Loading = ({ label = 'Loading' }: { label?: string }) => (
  <Center p="xl" role="status" aria-label={label}>
    <Loader />
  </Center>
)

/** There is nothing to show yet: says so, and what to do about it. */
export const Empty = ({
  title,
  children,
  action,
}: {
  title: string
  children?: ReactNode
  action?: ReactNode
}) => (
  <Stack align="center" p="xl" gap="xs">
    <Text fw={600}>{title}</Text>
    {children && (
      <Text c="dimmed" ta="center" maw={480}>
        {children}
      </Text>
    )}
    {action}
  </Stack>
)

/** What went wrong, and a way to try again. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null
  return (
    <Alert color="red" variant="outline" title={titleOf(error)} role="alert">
      <Group justify="space-between">
        <Text size="sm">{messageOf(error)}</Text>
        {onRetry && (
          <Button variant="default" size="xs" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  )
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'That did not work'
  if (error.status === 0) return 'No connection'
  if (error.status === 404) return 'Not found'
  if (error.status === 403) return 'Not allowed'
  return error.status >= 500 ? 'The platform has a problem' : 'That did not work'
}

/**
 * The answer of a query, or what stands in its place: loading, a problem, nothing there. An answer that is already
 * here stays on the screen when a later look fails; the problem is shown above it.
 */
export function QueryView<T>(props: {
  query: UseQueryResult<T>
  isEmpty?: (data: T) => boolean
  empty?: ReactNode
  children: (data: T) => ReactNode
}) {
  const { query, isEmpty, empty, children } = props
  if (query.data === undefined) {
    return query.error ? <Problem error={query.error} onRetry={() => void query.refetch()} /> : <Loading />
  }
  return (
    <>
      {query.error && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {isEmpty?.(query.data) ? empty : children(query.data)}
    </>
  )
}
